"""Log lines such as `level=info took=3ms`."""


def parse(line: str) -> dict[str, object]:
    """The pairs of a line."""
    pairs: dict[str, object] = {}
    for word in line.split():
        key, equals, value = word.partition("=")
        pairs[key] = value if equals else ""
    return pairs
