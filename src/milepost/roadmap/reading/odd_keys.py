"""Lines below a task that look like a statement and are none: `Verfy: make test`, ``Verify `make test` ``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from milepost.core.task import Problem
from milepost.roadmap.reading.markdown import Block, Items, Paragraph
from milepost.roadmap.reading.statements import key_of

# What nobody writes with a colon in prose, as `Test:` or `Note:` are.
_KEYS = (
    "files",
    "verify",
    "verify hidden",
    "depends on",
    "blocked by",
    "agent",
    "pattern",
    "approve",
    "timeout",
    "budget",
)
_LIKE_A_KEY = re.compile(r"[*_]{0,2}(?P<key>[A-Za-z]{3,12}(?:[ -][A-Za-z]{2,8})?)[*_]{0,2}\s*:[*_]{0,2}\s+\S")
_WITHOUT_COLON = re.compile(r"(?P<key>Verify|Files?)\s+`[^`]+`\.?", re.IGNORECASE)
_ALIKE = 0.8


def odd_keys(blocks: Sequence[Block]) -> Iterator[Problem]:
    """What is said of such lines in these blocks and in unboxed items below them, in the order of the file."""
    for block in blocks:
        match block:
            case Paragraph():
                for number, text in enumerate(block.lines, block.line + 1):
                    if said := _said_of(text.strip()):
                        yield Problem(line=number, message=said, kind="misspelt")
            case Items():
                for item in block.items:
                    if item.box is None:
                        yield from odd_keys(item.blocks)
            case _:
                pass


def _said_of(text: str) -> str:
    if key_of(text) is not None:
        return ""
    if bare := _WITHOUT_COLON.fullmatch(text):
        return f"this line is not read: a colon is missing, write `{bare['key']}: …`"
    found = _LIKE_A_KEY.match(text)
    near = get_close_matches(found["key"].lower().replace("-", " "), _KEYS, n=1, cutoff=_ALIKE) if found else []
    return f"`{found['key']}:` is not read: did you mean `{near[0].capitalize()}:`?" if found and near else ""
