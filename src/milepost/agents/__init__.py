"""Who does the work of an attempt."""
