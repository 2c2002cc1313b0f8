"""What is bought."""

from dataclasses import dataclass, field

from products import discounted


@dataclass
class Order:
    lines: list = field(default_factory=list)

    def add(self, product, count=1):
        self.lines.append((product, count))

    def total(self, percent=0):
        return sum(discounted(product, percent).cents * count for product, count in self.lines)
