"""Polygons, as lists of corners."""

Corner = tuple[float, float]


def area(corners: list[Corner]) -> float:
    """The area, by the shoelace formula."""
    pairs = zip(corners, [*corners[1:], *corners[:1]], strict=True)
    return sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairs) / 2
