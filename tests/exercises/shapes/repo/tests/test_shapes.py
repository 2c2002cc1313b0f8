import pytest

from shapes import Circle, area


def test_a_square():
    assert area([(0, 0), (2, 0), (2, 2), (0, 2)]) == 4


def test_a_square_drawn_clockwise():
    assert area([(0, 2), (2, 2), (2, 0), (0, 0)]) == 4


def test_a_triangle_drawn_clockwise():
    assert area([(0, 1), (0.5, 0), (0, 0)]) == pytest.approx(0.25)


def test_a_circle():
    assert Circle(2).area() == pytest.approx(12.566, abs=0.001)
