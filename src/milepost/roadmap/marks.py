"""How a task says whether it is done: the bytes that say so, and what they become."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The bytes at `offset` that tell the status of a task: `written` now, `done` or `undone` after a change."""

    offset: int
    written: bytes
    ticked: bool
    done: bytes = b"x"
    undone: bytes = b" "

    @property
    def end(self) -> int:
        return self.offset + len(self.written)


def box(offset: int, sign: str) -> Mark:
    """The mark of a checkbox: the one byte between its brackets."""
    return Mark(offset=offset, written=sign.encode(), ticked=sign != " ")


def marked(content: bytes, marks: dict[Mark, bool]) -> bytes:
    """The content in which each of these marks says done, or not; those that say so already stay as they are."""
    parts, place = [], 0
    for mark in sorted((mark for mark, done in marks.items() if mark.ticked != done), key=lambda mark: mark.offset):
        parts += [content[place : mark.offset], mark.done if marks[mark] else mark.undone]
        place = mark.end
    return b"".join([*parts, content[place:]])
