"""Secrets taken out of lines that a terminal would show: colours do not break a secret in two."""

from __future__ import annotations

from collections.abc import Sequence

from milepost.core.escapes import has_escapes, without_escapes
from milepost.core.redact import MASK, Redactor
from milepost.core.secret_shapes import mask_passwords, mask_tokens

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

    def _part(self, lines: Sequence[str]) -> list[str]:
        text = "\n".join(lines)
        if not has_escapes(text):
            return self._plain.block(lines)
        plain = [without_escapes(line) for line in lines]
        masked = self._plain.block(plain)
        written = _written(text)
        if masked == _written("\n".join(plain)).split("\n") and mask_passwords(mask_tokens(written)) == written:
            return written.split("\n")
        return [self._shown(*each) for each in zip(lines, plain, masked, strict=True)]

    def _shown(self, line: str, plain: str, masked: str) -> str:
        coloured = self._redact(line)
        if masked in (_written(plain), without_escapes(coloured)):
            return coloured
        # What begins where a colour ends may be known as a secret only with it: such a line hides two in two ways.
        return masked if coloured == _written(line) else MASK


def _written(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
