"""What an invoice adds up to."""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def line(price: str, pieces: int) -> Decimal:
    """The price of one line, exact."""
    return Decimal(price) * pieces


def total(lines: list[Decimal]) -> Decimal:
    """The sum of all lines, in whole cents."""
    return sum(lines, Decimal(0)).quantize(CENT, rounding=ROUND_HALF_UP)
