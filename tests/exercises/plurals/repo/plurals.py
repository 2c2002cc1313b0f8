"""Words for more than one."""


def plural(word):
    """The plural of an English word."""
    return word + "s"
