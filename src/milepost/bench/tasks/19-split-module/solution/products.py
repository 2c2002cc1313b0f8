"""What is sold."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    name: str
    cents: int


def discounted(product, percent):
    """The product, so much cheaper."""
    return Product(product.name, product.cents * (100 - percent) // 100)
