"""A symbol as one file uses it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """`name` is what the symbol is called in the file, `taken` what is used of it; `refused` is why it has no code."""

    symbol: str
    name: str
    taken: tuple[str, ...] = ()
    code: str = ""
    refused: str = ""
