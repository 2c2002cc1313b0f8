"""The page in a real browser, and what that needs."""
