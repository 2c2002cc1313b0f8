"""Texts that took time to make and never change, the ones used last, within so many signs. Any thread may ask."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

MOST_SIGNS: Final = 32_000_000


class TextCache:
    """A text a key; the one that was not asked for the longest goes first."""

    def __init__(self, most_signs: int = MOST_SIGNS) -> None:
        self._texts: OrderedDict[Hashable, str] = OrderedDict()
        self._most, self._signs, self._lock = most_signs, 0, threading.Lock()

    def get(self, key: Hashable, make: Callable[[], str]) -> str:
        """The text of a key, made where it is not kept."""
        with self._lock:
            if key in self._texts:
                self._texts.move_to_end(key)
                return self._texts[key]
        text = make()
        with self._lock:
            self._signs += len(text) - len(self._texts.pop(key, ""))
            self._texts[key] = text
            while self._signs > self._most:
                self._signs -= len(self._texts.popitem(last=False)[1])
        return text
