"""What the guard reads in Python files."""
