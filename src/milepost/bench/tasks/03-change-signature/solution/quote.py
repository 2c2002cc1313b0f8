"""Quotes in all currencies."""

from rates import RATES, convert


def quotes(price):
    """A price in EUR in every currency."""
    return {name: convert(price, source="EUR", target=name) for name in RATES}
