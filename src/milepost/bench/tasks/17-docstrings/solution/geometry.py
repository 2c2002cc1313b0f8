"""Points in the plane, as pairs of numbers."""

from math import hypot


def distance(a, b):
    """How far two points are from each other.

    >>> distance((0, 0), (3, 4))
    5.0
    """
    return hypot(b[0] - a[0], b[1] - a[1])


def midpoint(a, b):
    """The point halfway between two.

    >>> midpoint((0, 0), (2, 4))
    (1.0, 2.0)
    """
    return _half(a[0] + b[0]), _half(a[1] + b[1])


def scaled(point, factor=2):
    """The point, so many times as far from the origin.

    >>> scaled((1, 2), 3)
    (3, 6)
    """
    return point[0] * factor, point[1] * factor


def _half(number):
    return number / 2
