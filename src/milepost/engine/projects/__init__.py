"""Several projects at once."""
