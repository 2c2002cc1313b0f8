"""A buffer that forgets the oldest."""

from collections import deque


class RingBuffer:
    """The last `size` items that were pushed."""

    def __init__(self, size):
        if size < 1:
            raise ValueError(f"a ring holds at least one item, not {size}")
        self._items = deque(maxlen=size)

    def push(self, item):
        self._items.append(item)

    @property
    def full(self):
        return len(self._items) == self._items.maxlen

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(tuple(self._items))
