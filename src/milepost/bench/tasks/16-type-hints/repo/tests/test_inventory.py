import pytest
from inventory import Item, by_name, find, total


def test_items():
    items = [Item("tea", 2, 3.5), Item("milk")]
    assert (total(items), find(items, "tea").count, find(items, "rum"), set(by_name(items))) == (
        7.0,
        2,
        None,
        {"tea", "milk"},
    )
    with pytest.raises(ValueError):
        items[0].take(3)
