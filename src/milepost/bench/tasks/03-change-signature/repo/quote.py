"""Quotes in all currencies."""

from rates import RATES, convert


def quotes(price):
    """A price in EUR in every currency."""
    return {name: convert(price, 1 / rate) for name, rate in RATES.items()}
