"""How a task says whether it is done: the bytes that say so, and what they become."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """The bytes at `offset` that tell the status of a task: `written` now, `done` or `undone` after a change."""

    offset: int
    written: bytes
    ticked: bool
    done: bytes = b"x"
    undone: bytes = b" "

    @property
    def end(self) -> int:
        return self.offset + len(self.written)


def checkbox(offset: int, sign: str) -> Box:
    """The box of a task list: the one byte between its brackets."""
    return Box(offset=offset, written=sign.encode(), ticked=sign != " ")


def with_boxes(content: bytes, boxes: dict[Box, bool]) -> bytes:
    """The content in which each of these boxes says done, or not; those that say so already stay as they are."""
    parts, place = [], 0
    for box in sorted((box for box, done in boxes.items() if box.ticked != done), key=lambda box: box.offset):
        parts += [content[place : box.offset], box.done if boxes[box] else box.undone]
        place = box.end
    return b"".join([*parts, content[place:]])
