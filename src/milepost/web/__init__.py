"""The page on a run: a local server, and what it serves."""
