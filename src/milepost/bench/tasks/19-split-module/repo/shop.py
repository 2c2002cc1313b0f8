"""A shop."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Product:
    name: str
    cents: int


def discounted(product, percent):
    """The product, so much cheaper."""
    return Product(product.name, product.cents * (100 - percent) // 100)


@dataclass
class Order:
    lines: list = field(default_factory=list)

    def add(self, product, count=1):
        self.lines.append((product, count))

    def total(self, percent=0):
        return sum(discounted(product, percent).cents * count for product, count in self.lines)
