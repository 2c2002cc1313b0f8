"""Tasks to a graph in waves, and what is wrong with it."""
