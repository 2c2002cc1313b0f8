from decimal import Decimal

from prices import line, total


def test_a_line_is_exact():
    assert line("0.335", 3) == Decimal("1.005")


def test_half_a_cent_is_rounded_up():
    assert total([line("0.335", 3)]) == Decimal("1.01")


def test_nothing_costs_nothing():
    assert total([]) == Decimal("0.00")
