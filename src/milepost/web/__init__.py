"""The page: a run watched and steered in a browser, live or over. Uses only the library."""
