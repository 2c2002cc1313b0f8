"""Refunds in EUR."""

from rates import RATES, convert


def refund(amount, currency):
    """What is paid back for an amount in another currency."""
    return convert(amount, RATES[currency])
