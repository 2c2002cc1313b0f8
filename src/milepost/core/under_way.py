"""What takes its time and is nobody's task: told to whoever listens, from its beginning to its end."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnderWay:
    """One thing that takes its time: it begins, or has ended; `number` tells it from others of the same words."""

    what: str
    number: int
    ended: bool = False


Listener = Callable[[UnderWay], None]

_listeners: list[Listener] = []
_guard = threading.Lock()
_numbers = itertools.count(1)


@contextmanager
def under_way(what: str) -> Iterator[None]:
    """Tell that this begins, and at the end of the block that it has ended."""
    number = next(_numbers)
    _tell(UnderWay(what, number))
    try:
        yield
    finally:
        _tell(UnderWay(what, number, ended=True))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let somebody hear, in this process and from whatever thread, what is under way during the block."""
    with _guard:
        _listeners.append(listener)
    try:
        yield
    finally:
        with _guard:
            _listeners.remove(listener)


def _tell(told: UnderWay) -> None:
    with _guard:
        listeners = tuple(_listeners)
    for listener in listeners:
        listener(told)
