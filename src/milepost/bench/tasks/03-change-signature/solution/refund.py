"""Refunds in EUR."""

from rates import convert


def refund(amount, currency):
    """What is paid back for an amount in another currency."""
    return convert(amount, source=currency, target="EUR")
