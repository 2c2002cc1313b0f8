"""Looking at runs. Changes nothing."""
