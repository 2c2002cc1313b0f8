"""Secrets taken out of lines that a terminal would show: colours do not break a secret in two."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from milepost.core.secrets.redact import MASK, Redactor, written
from milepost.core.terminal_escapes import has_escapes, without_escapes

PART = 100  # lines; of those around a secret no more are looked at one by one


class ShownLines:
    """Redacts the lines of one stream. A line keeps its colours unless a secret is found only without them."""

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._plain = redact.lines()

    def block(self, lines: Sequence[str]) -> list[str]:
        """Lines as they may be shown; a secret may go on from block to block."""
        parts = (lines[start : start + PART] for start in range(0, len(lines), PART))
        return [line for part in parts for line in self._part(part)]

    def copied(self) -> ShownLines:
        """Another that goes on from here by itself."""
        other = copy(self)
        other._plain = copy(self._plain)
        return other

    def _part(self, lines: Sequence[str]) -> list[str]:
        text = "\n".join(lines)
        if not has_escapes(text):
            return self._plain.block(lines)
        plain = [without_escapes(line) for line in lines]
        masked = self._plain.block(plain)
        if masked == [*map(written, plain)] and self._redact(text) == written(text):
            return [*map(written, lines)]
        return [self._shown(*each) for each in zip(lines, plain, masked, strict=True)]

    def _shown(self, line: str, plain: str, masked: str) -> str:
        if plain == line:
            return masked
        coloured = self._redact(line)
        if masked in (written(plain), without_escapes(coloured)):
            return coloured
        # What begins where a colour ends may be known as a secret only with it: such a line hides two in two ways.
        return masked if coloured == written(line) else MASK
