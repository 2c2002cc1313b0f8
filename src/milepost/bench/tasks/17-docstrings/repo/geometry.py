from math import hypot


def distance(a, b):
    return hypot(b[0] - a[0], b[1] - a[1])


def midpoint(a, b):
    return _half(a[0] + b[0]), _half(a[1] + b[1])


def scaled(point, factor=2):
    return point[0] * factor, point[1] * factor


def _half(number):
    return number / 2
