"""A report on people."""

from table import Table


def report(people):
    """Names and ages, in columns."""
    table = Table(["name", "age"])
    for name, age in people:
        table.add([name, age])
    return table.render()
