"""The same file from several places."""

MIRRORS = ("https://a.example", "https://b.example")
