"""Small things to do with text."""


def squeeze(text):
    """The text with single spaces."""
    return " ".join(text.split())


def truncate(text, width, ending="…"):
    """The text, cut to `width` with `ending` where it is longer."""
    if width < len(ending):
        raise ValueError(f"{width} is too short for {ending!r}")
    return text if len(text) <= width else text[: width - len(ending)] + ending
