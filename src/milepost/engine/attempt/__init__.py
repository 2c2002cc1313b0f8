"""One attempt at a task, from its assignment to its record."""
