"""Boxes that a person may read otherwise than they are read: `- [] a`, `- [~] a`, open ones that are called done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from milepost.core.task import Problem
from milepost.roadmap.reading.markdown import Block, Item, Items

# Signs that other programs have boxes for, slips of a finger, and a blank that is missing after a box.
_NEARLY = re.compile(r"(?P<box>\[(?:\s*|\s*[xX]\s*|[-~/>!?*.oOvV✓✔√✗])\])(?=[^\[(:])")
_SAYS_DONE = re.compile(r"done|complete|finished|shipped|fixed|closed|merged", re.IGNORECASE)
_STRUCK = re.compile(r"~~(?=\S)[^~]+~~[.:]?")


def odd_boxes(blocks: Sequence[Block]) -> Iterator[Problem]:
    """What is said of such items, in the order of the file."""
    for block in blocks:
        for item in block.items if isinstance(block, Items) else ():
            yield from _of(item)
            yield from odd_boxes(item.blocks)


def _of(item: Item) -> Iterator[Problem]:
    written = item.first.lines[0].strip() if item.first.lines else ""
    line = item.first.line + 1
    if item.box is None and (found := _NEARLY.match(written)):
        how = f"{found['box']} is not a checkbox" if found["box"][1:-1] not in (" ", "x", "X") else "a space is missing"
        message = f"this is not a task: {how}, write `[ ] ` or `[x] `"
        yield Problem(line=line, message=message, kind="no task")
    elif item.box is None or item.box.ticked:
        return
    elif _STRUCK.fullmatch(written):
        message = "it is struck through and its box is open, so it will be worked on: tick the box, or remove the task"
        yield Problem(line=line, message=message, kind="struck")
    elif said := _said_done(written):
        message = f"{said} says done and its box is open, so it will be worked on: tick the box, or remove {said}"
        yield Problem(line=line, message=message, kind="contradiction")


def _said_done(written: str) -> str:
    """The sign in a title that says done, or nothing."""
    if written.isascii() and not _SAYS_DONE.search(written):
        return ""
    from milepost.roadmap.dialects.signs import sign_in

    sign = sign_in(written)
    return sign.written.strip() if sign is not None and sign.status == "done" and not sign.adorns else ""
