"""Edits of a text at known places, each of which must hold what it is thought to hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milepost.sandbox.confined import PathRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdit:
    """Put `new` in the place of `old`, at a line counted from 1 and a column counted in bytes from 0."""

    line: int
    column: int
    old: str
    new: str


def edited(path: str, text: str, edits: Sequence[TextEdit]) -> str:
    """The text with all edits made; they do not overlap."""
    lines = text.encode().split(b"\n")
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column), reverse=True):
        line, old = lines[edit.line - 1], edit.old.encode()
        # Older Pythons do not know exactly where a name stands inside an f-string.
        if edit.column < 0 or line[edit.column : edit.column + len(old)] != old:
            raise PathRefused(f"{path}:{edit.line}: it is not certain where {edit.old!r} is; rename it there by hand")
        lines[edit.line - 1] = line[: edit.column] + edit.new.encode() + line[edit.column + len(old) :]
    return b"\n".join(lines).decode()
