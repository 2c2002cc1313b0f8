"""todo.txt: a task a line, `x` before what is done, `(A)` for its priority, `+project` and `key:value` in it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePath

from milepost.core.task import Priority, Remark
from milepost.roadmap.dialects.outline import Words, draft_of_text, safe_id
from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.drafts import DialectReading, Draft
from milepost.roadmap.reading.source import RoadmapSource

_DATE = r"\d{4}-\d{2}-\d{2}"
_LINE = re.compile(
    rf"(?P<done>x[ ]+)?(?:\((?P<priority>[A-Z])\)[ ]+)?(?:{_DATE}[ ]+){{0,2}}(?P<title>\S.*)",
)
_UNMISTAKABLE = re.compile(rf"x {_DATE} |x \([A-Z]\) |\([A-Z]\) \S|{_DATE} \S|x \S.*\s[+@]\S")
_PAIR = re.compile(r"(?:(?<=\s)|^)(?P<key>[A-Za-z][\w-]{0,20}):(?P<value>[^\s:/][^\s]*)")
_PROJECT = re.compile(r"(?:(?<=\s)|^)\+(\S+)")
_DEPENDS = ("dep", "deps", "depends", "blockedby", "p")
# The first word of a line that only Markdown has.
_MARKDOWN = re.compile(r"#{1,6}\s|[-*+]\s|\d+[.)]\s|\||>|```|~~~")
_ENOUGH = 0.5


def is_named_so(name: str) -> bool:
    """Whether a file's name says that it is of this form."""
    stem = PurePath(name).name.lower()
    return stem in ("todo.txt", "done.txt") or stem.endswith((".todo.txt", ".done.txt", "-todo.txt", "_todo.txt"))


def looks_so(source: RoadmapSource) -> bool:
    """Whether lines are unmistakably of this form: at least half of them, and none is Markdown."""
    lines = [line for line in source.lines if line.strip()]
    if not lines or any(_MARKDOWN.match(line.lstrip()) for line in lines):
        return False
    return sum(bool(_UNMISTAKABLE.match(line)) for line in lines) >= max(1, _ENOUGH * len(lines))


def read(source: RoadmapSource) -> DialectReading:
    """Every line with words as a task."""
    drafts: list[Draft] = []
    remarks: list[Remark] = []
    for number, line in enumerate(source.lines):
        found = _LINE.fullmatch(line.rstrip())
        if found is None:
            continue
        if line.startswith("#"):
            remarks.append(Remark(line=number + 1, taken=False, why="a comment"))
            continue
        drafts.append(_draft(source, number, found))
        why = "a line that begins with x: done" if found["done"] else "a line: open"
        remarks.append(Remark(line=number + 1, taken=True, why=why))
    return DialectReading(drafts=tuple(drafts), remarks=tuple(remarks))


def _draft(source: RoadmapSource, number: int, found: re.Match[str]) -> Draft:
    done, written = found["done"] or "", found["title"]
    pairs = [(pair["key"].lower(), pair["value"]) for pair in _PAIR.finditer(written)]
    project = _PROJECT.search(written)
    words = Words(section=project[1], path=(project[1],)) if project else Words()
    title = " ".join(_PAIR.sub(lambda pair: "" if _is_ours(pair["key"]) else pair[0], written).split())
    # The sign that says done is `x ` before the line: what stood between is kept when it goes.
    box = Box(offset=source.starts[number], written=done.encode(), ticked=bool(done), done=b"x ", undone=b"")
    text = "\n".join(f"Depends on: {value}" for key, value in pairs if key in _DEPENDS)
    draft = draft_of_text(number, title or written, text, words, box=box, ticked=bool(done))
    explicit = next((name for key, value in pairs if key == "id" and (name := safe_id(value))), "")
    return replace(
        draft, explicit=explicit or draft.explicit, priority=_priority(found["priority"], pairs), guess=False
    )


def _is_ours(key: str) -> bool:
    return key.lower() in ("id", *_DEPENDS)


def _priority(letter: str | None, pairs: list[tuple[str, str]]) -> Priority:
    # What is done keeps its priority as `pri:A`.
    said = letter or next((value.upper() for key, value in pairs if key == "pri"), "")
    return "" if not said else "high" if said == "A" else "medium" if said == "B" else "low"
