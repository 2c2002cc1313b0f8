"""What a tool has to say about a file, and which of it is new since the base."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

LONGEST_MESSAGE = 200
SHOWN = 5

_LINE_NUMBER = re.compile(r"\b(lines?) \d+\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinding:
    """One remark of a tool; `line` is 0 when it is about the whole file, `path` empty when it is about no file."""

    path: str
    message: str
    line: int = 0
    code: str = ""

    def __str__(self) -> str:
        place = ":".join(part for part in (printable(self.path), str(self.line or "")) if part)
        said = f"{place}: {self.message}" if place else self.message
        return f"{said} [{self.code}]" if self.code else said


def keys(findings: Iterable[ToolFinding]) -> frozenset[str]:
    """The findings as they are kept and compared: without line numbers, the same one twice counted as two."""
    seen: Counter[tuple[str, str, str]] = Counter()
    found: set[str] = set()
    for finding in findings:
        what = _what(finding)
        seen[what] += 1
        found.add("\t".join((*what, str(seen[what]))))
    return frozenset(found)


def fresh(
    now: tuple[ToolFinding, ...], before: frozenset[str], *, new: frozenset[str] = frozenset(), gone: frozenset[str]
) -> tuple[ToolFinding, ...]:
    """The findings that were not there before, of each kind the last ones.

    `new` and `gone` are paths: what was said of a file that is gone may be said of a new one, since a file that
    moves takes its findings along.
    """
    known: Counter[tuple[str, str, str]] = Counter()
    movable: Counter[tuple[str, str]] = Counter()
    for key in before:
        path, code, message = key.split("\t")[:3]
        known[path, code, message] += 1
        movable[code, message] += path in gone
    alike: defaultdict[tuple[str, str, str], list[ToolFinding]] = defaultdict(list)
    for finding in now:
        alike[_what(finding)].append(finding)
    found: set[ToolFinding] = set()
    for what, group in alike.items():
        path, *rest = what
        allowed = known[what]
        if path in new:
            moved = min(len(group) - allowed, movable[rest[0], rest[1]])
            movable[rest[0], rest[1]] -= moved
            allowed += moved
        found.update(group[allowed:])
    return tuple(finding for finding in now if finding in found)


def told(findings: Iterable[ToolFinding], shown: int = SHOWN) -> str:
    """The first few findings in one line, and how many more there are."""
    texts = [str(finding) for finding in findings]
    more = f"; and {len(texts) - shown} more" if len(texts) > shown else ""
    return "; ".join(texts[:shown]) + more


def printable(text: str) -> str:
    """`text` on one line, whatever signs are in it."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def clipped(text: str) -> str:
    """The first line of a message, short enough to show."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return printable(first)[:LONGEST_MESSAGE]


def _what(finding: ToolFinding) -> tuple[str, str, str]:
    return printable(finding.path), finding.code, _LINE_NUMBER.sub(r"\1 N", finding.message)
