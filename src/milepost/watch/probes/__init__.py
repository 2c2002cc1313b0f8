"""What looks at something that runs, one kind a module."""
