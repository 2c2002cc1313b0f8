"""Single commands that need no run."""
