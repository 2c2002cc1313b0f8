"""How long something takes."""

UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(text):
    """The seconds of a duration such as `90s`."""
    return int(text[:-1]) * UNITS[text[-1]]
