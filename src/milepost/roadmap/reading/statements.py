"""Keyed lines such as `Files: a.py`: found in the blocks below a task or a heading, with the lines they take up."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import Literal

from milepost.roadmap.reading.bounds import BoundKey
from milepost.roadmap.reading.markdown import Block, Fence, Item, Items, Paragraph

Key = Literal[
    "files",
    "verify",
    "verify hidden",
    "depends",
    "prerequisite",
    "priority",
    "agent",
    "pattern",
    "tests",
    "changes",
    "scope",
    "behaviour",
    "needs",
    BoundKey,
]

_KEYS: dict[str, Key] = {
    "file": "files",
    "files": "files",
    "verify": "verify",
    "verify hidden": "verify hidden",
    "depends": "depends",
    "depends on": "depends",
    "depends upon": "depends",
    "depends-on": "depends",
    "blocked by": "depends",
    "prerequisite": "prerequisite",
    "prerequisites": "prerequisite",
    "dependency": "prerequisite",
    "dependencies": "prerequisite",
    "requires": "prerequisite",
    "after": "prerequisite",
    "priority": "priority",
    "agent": "agent",
    "pattern": "pattern",
    "tests": "tests",
    "changes": "changes",
    "scope": "scope",
    "behaviour": "behaviour",
    "behavior": "behaviour",
    "needs": "needs",
    "budget": "budget",
    "timeout": "timeout",
    "approve": "approve",
}
_KEYED = re.compile(
    rf"(?P<open>\*\*|__|\*|_)?(?P<key>{'|'.join(sorted(_KEYS, key=len, reverse=True))})"
    r"(?P<close>\*\*|__|\*|_)?\s*:(?P<after>\*\*|__|\*|_)?\s*(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
# An emoji before a key: `⚠️ Depends on: 1.1`.
_ADORNING = re.compile(r"\A[^\w\s*_]{1,4}\s+(?=\S)")
_LAST_OF_LETTERS = "\u1fff"
# Most lines are told apart by their first letters alone.
_STARTS = frozenset({"*", "_"} | {letter for key in _KEYS for letter in (key[0], key[0].upper())})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One keyed line with its values, and the lines of the file it takes up, counted from 0.

    `verbatim` values stood in a block of code: each is what it says, quotes and all.
    """

    key: Key
    line: int
    values: tuple[str, ...]
    covers: frozenset[int]
    verbatim: bool = False


def statements_in(blocks: Sequence[Block]) -> Iterator[Statement]:
    """The statements in these blocks and in unboxed items below them, in the order of the file."""
    taken: Block | None = None
    for block, following in zip_longest(blocks, blocks[1:]):
        match block:
            case Paragraph():
                for statement in _in_paragraph(block):
                    last = max(statement.covers) == block.line + len(block.lines) - 1
                    if last and following is not None and statement.values == ("",):
                        taken = following
                        yield _with_values_below(statement, following)
                    else:
                        yield statement
            case Items():
                unboxed = (item for item in block.items if item.box is None)
                plain = set(map(id, _plain_items(block))) if block is taken else set()
                for item in unboxed:
                    if id(item) not in plain:
                        yield from statements_in(item.blocks)
            case _:
                pass


def key_of(line: str) -> Key | None:
    """The key of a statement that begins with this line."""
    keyed = _keyed(line)
    return keyed[0] if keyed else None


def _in_paragraph(paragraph: Paragraph) -> Iterator[Statement]:
    lines = deque(enumerate(paragraph.lines, paragraph.line))
    while lines:
        number, text = lines.popleft()
        keyed = _keyed(text)
        if keyed is None:
            continue
        key, value = keyed
        covers = {number}
        while lines and value.endswith((",", "\\")) and _keyed(lines[0][1]) is None:
            number, more = lines.popleft()
            value = f"{value.removesuffix(chr(92)).rstrip()} {more.strip()}"
            covers.add(number)
        yield Statement(key=key, line=min(covers), values=(value,), covers=frozenset(covers))


def _keyed(text: str) -> tuple[Key, str] | None:
    bare = text.strip()
    if bare[:1] > _LAST_OF_LETTERS:
        bare = _ADORNING.sub("", bare)
    found = _KEYED.match(bare) if bare[:1] in _STARTS else None
    if found is None:
        return None
    value = found["value"].strip()
    if found["open"] and not (found["close"] or found["after"]):
        value = value.removesuffix(found["open"])
    return _KEYS[found["key"].lower()], value


def _with_values_below(statement: Statement, block: Block) -> Statement:
    """The statement with what stands in the list or the fenced block after it."""
    covers = set(statement.covers)
    values: list[str] = []
    match block:
        case Items():
            for item in _plain_items(block):
                values.append(" ".join(line.strip() for line in item.first.lines))
                covers.update(range(item.line, item.end))
        case Fence() if statement.key in ("verify", "verify hidden"):
            values = _script(block.code)
            covers.update(range(block.line, block.end))
        case _:
            pass
    return Statement(
        key=statement.key,
        line=statement.line,
        values=tuple(values),
        covers=frozenset(covers),
        verbatim=isinstance(block, Fence),
    )


def _plain_items(block: Items) -> list[Item]:
    """The items of a list that are values: neither tasks nor statements of their own."""
    return list(takewhile(lambda item: item.box is None and _keyed(item.first.lines[0]) is None, block.items))


def _script(code: str) -> list[str]:
    """The commands of a fenced block, one a line, without prompts and comments."""
    lines = code.replace("\\\n", " ").split("\n")
    commands = (re.sub(r"^\$\s+", "", line.strip()) for line in lines)
    return [command for command in commands if command and not command.startswith("#")]
