"""Where code and commands run, held at a trust level."""
