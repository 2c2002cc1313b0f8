"""Nearness in meaning by static word vectors; only with the extra `semantic`."""

from __future__ import annotations

from typing import Protocol

from milepost.memory.recall.entries import Entries, Entry, Where


class Meaning(Protocol):
    """Finds what is near in meaning, whatever its words."""

    def nearest(self, entries: Entries, text: str, where: Where, most: int) -> list[tuple[Entry, float]]: ...
