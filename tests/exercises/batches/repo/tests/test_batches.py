from itertools import count, islice

import pytest

from batches import batches


@pytest.mark.parametrize(
    ("items", "size", "expected"),
    [
        ("", 2, []),
        ("ab", 2, [["a", "b"]]),
        ("abc", 2, [["a", "b"], ["c"]]),
        ("abc", 5, [["a", "b", "c"]]),
        ("abc", 1, [["a"], ["b"], ["c"]]),
    ],
)
def test_items_come_in_batches(items, size, expected):
    assert list(batches(items, size)) == expected


def test_an_endless_source_is_no_problem():
    assert list(islice(batches(count(), 2), 2)) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_holds_something(size):
    with pytest.raises(ValueError):
        batches("abc", size)
