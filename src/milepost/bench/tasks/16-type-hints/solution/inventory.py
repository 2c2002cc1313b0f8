"""What is in stock."""

from collections.abc import Iterable


class Item:
    name: str
    count: int
    price: float

    def __init__(self, name: str, count: int = 0, price: float = 0.0) -> None:
        self.name = name
        self.count = count
        self.price = price

    def value(self) -> float:
        return self.count * self.price

    def take(self, count: int) -> None:
        if count > self.count:
            raise ValueError(f"only {self.count} of {self.name} left")
        self.count -= count


def find(items: Iterable[Item], name: str) -> Item | None:
    """The item of a name, None when there is none."""
    for item in items:
        if item.name == name:
            return item
    return None


def total(items: Iterable[Item]) -> float:
    return sum(item.value() for item in items)


def by_name(items: Iterable[Item]) -> dict[str, Item]:
    return {item.name: item for item in items}
