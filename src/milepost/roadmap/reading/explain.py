"""Why each line of a roadmap was taken for a task, or was not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from milepost.core.task import Remark
from milepost.roadmap.dialects import Chosen, choose
from milepost.roadmap.dialects.outline import outline_of
from milepost.roadmap.dialects.status_signs import read_signed
from milepost.roadmap.dialects.table import read_tables
from milepost.roadmap.reading.markdown import DEEPEST_LEVEL, Block, Item, Items, MarkdownDocument, Table, parse
from milepost.roadmap.reading.options import PLAIN, Manner
from milepost.roadmap.reading.source import RoadmapSource, source_of

_BOX = re.compile(r"[\s>]*(?P<marker>(?:(?:[-*+]|\d{1,9}[.)])\s+)*)\[(?P<sign>.?|\s+[xX]?|[xX]\s+)\](?P<after>.?)")
_BOX_IN_TABLE = re.compile(r"\|\s*\[[ xX]\]")
_UNREAD = {
    "fence": "inside a fenced block",
    "code": "inside an indented block of code",
    "html": "inside a comment or HTML",
    "front_matter": "in the front matter",
}
_NO_SIGN = {
    "boxes": "no box",
    "emoji": "nothing shows its status",
    "words": "nothing shows its status",
    "table": "not a row of a status table",
    "bullets": "not under a heading that announces plans",
}
_MARKDOWN = frozenset(_NO_SIGN)

Place = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The dialect that a roadmap is read in, why, and what is said of each line that is or could be a task."""

    dialect: str
    why: str
    remarks: tuple[Remark, ...]


def explain(content: bytes, manner: Manner = PLAIN) -> Explanation:
    """How a roadmap is read."""
    source = source_of(content)
    chosen = choose(source, manner)
    said = {(remark.page, remark.line): remark for remark in reversed(chosen.reading.remarks)}
    for top in chosen.reading.drafts:
        for draft in top.walk():
            why = "a ticked box" if draft.ticked else "an open box"
            taken = Remark(line=draft.line + 1, taken=True, why=why, page=draft.page)
            known = said.get((draft.page, draft.line + 1))
            said[draft.page, draft.line + 1] = known if known is not None and known.taken else taken
    if chosen.dialect in _MARKDOWN:
        _add_the_others(said, source, chosen)
    remarks = tuple(said[place] for place in sorted(said))
    return Explanation(dialect=chosen.dialect, why=chosen.why, remarks=remarks)


def _add_the_others(said: dict[Place, Remark], source: RoadmapSource, chosen: Chosen) -> None:
    """Remarks about what could be a task in any dialect and was left out."""
    document = parse(source)
    outline = outline_of(document, source)
    claimed = {line for (_, line), remark in said.items() if remark.taken}
    inside = {
        line
        for section in outline.sections
        if section.heading is not None and section.heading.line + 1 in claimed
        for line in range(section.heading.line + 2, section.end + 1)
    }
    others = [*_boxes(document, source), *_items(document, claimed, chosen.dialect)]
    if chosen.dialect == "boxes":
        others += [
            replace(remark, taken=False, why="a row of a status table: not read, as the roadmap has boxes")
            for remark in read_tables(outline).remarks
            if remark.taken
        ]
        others += [
            replace(remark, taken=False, why=f"{remark.why}: not read, as the roadmap has boxes")
            for remark in read_signed(outline, emoji=False)[0].remarks
            if remark.taken
        ]
    for remark in others:
        why = "part of the task above it" if remark.line in inside else remark.why
        said.setdefault(("", remark.line), replace(remark, why=why))


def _boxes(document: MarkdownDocument, source: RoadmapSource) -> Iterator[Remark]:
    """All lines that look like a box, as if none of them were one."""
    unread = {line: part.kind for part in document.unread for line in range(part.line, part.end)}
    tables = {line for table in _tables(document.blocks) for line in range(table.line, table.end)}
    deep = min(document.too_deep, default=len(source.lines))
    for number, line in enumerate(source.lines):
        if "[" not in line:
            continue
        found = _BOX.match(line)
        if number in tables and _BOX_IN_TABLE.search(line):
            yield Remark(line=number + 1, taken=False, why="in a table, where a box is only text")
        elif found is not None and found["after"] not in ("(", "["):
            if number in unread:
                why = _UNREAD[unread[number]]
            elif number >= deep:
                why = f"nested more than {DEEPEST_LEVEL} levels deep"
            else:
                why = _no_box(found)
            if found["marker"] or found["sign"] in (" ", "x", "X"):
                yield Remark(line=number + 1, taken=False, why=why)


def _no_box(found: re.Match[str]) -> str:
    if not found["marker"]:
        return "a box outside a list: write `- ` before it"
    if found["sign"] not in (" ", "x", "X"):
        return f"[{found['sign']}] is not a checkbox: write [ ] or [x]"
    if not found["after"]:
        return "a box with nothing after it"
    return "part of the text above it" if found["after"].isspace() else "a space is missing after the box"


def _items(document: MarkdownDocument, claimed: set[int], dialect: str) -> Iterator[Remark]:
    """All items of lists, as if none of them were a task."""
    waiting: list[tuple[Item, bool]] = [(item, False) for item in _of_lists(document.blocks)]
    while waiting:
        item, inside = waiting.pop()
        line = item.first.line + 1
        below = list(_of_lists(item.blocks))
        if inside:
            why = "part of the task above it"
        elif below and dialect == "boxes":
            why = "no box: a heading for what is below it"
        else:
            why = _NO_SIGN[dialect]
        yield Remark(line=line, taken=False, why=why)
        own = inside or line in claimed or item.line + 1 in claimed
        waiting += [(inner, own) for inner in below]


def _of_lists(blocks: tuple[Block, ...]) -> Iterator[Item]:
    return (item for block in blocks if isinstance(block, Items) for item in block.items)


def _tables(blocks: tuple[Block, ...]) -> Iterator[Table]:
    waiting = [*blocks]
    while waiting:
        block = waiting.pop()
        if isinstance(block, Table):
            yield block
        waiting += [inner for item in block.items for inner in item.blocks] if isinstance(block, Items) else []
