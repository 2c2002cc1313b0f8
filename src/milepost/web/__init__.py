"""The page on a run: the server that tells it, and what a browser is given to show it."""
