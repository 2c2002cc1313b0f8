"""Two texts compared, for the page."""
