"""Small things to do with text."""


def squeeze(text):
    """The text with single spaces."""
    return " ".join(text.split())
