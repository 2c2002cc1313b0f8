import pytest
from ring import RingBuffer


def filled(size, items):
    ring = RingBuffer(size)
    for item in items:
        ring.push(item)
    return ring


def test_items_come_oldest_first():
    assert list(filled(3, "ab")) == ["a", "b"]


def test_the_oldest_is_forgotten():
    ring = filled(2, "abc")
    assert (list(ring), len(ring), ring.full) == (["b", "c"], 2, True)


def test_a_ring_holds_something():
    with pytest.raises(ValueError):
        RingBuffer(0)
