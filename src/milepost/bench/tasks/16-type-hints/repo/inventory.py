"""What is in stock."""


class Item:
    def __init__(self, name, count=0, price=0.0):
        self.name = name
        self.count = count
        self.price = price

    def value(self):
        return self.count * self.price

    def take(self, count):
        if count > self.count:
            raise ValueError(f"only {self.count} of {self.name} left")
        self.count -= count


def find(items, name):
    """The item of a name, None when there is none."""
    for item in items:
        if item.name == name:
            return item
    return None


def total(items):
    return sum(item.value() for item in items)


def by_name(items):
    return {item.name: item for item in items}
