"""What a roadmap with boxes leaves out: items without one beside others, and tasks marked in another way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from milepost.core.task import Problem
from milepost.roadmap.reading.drafts import DialectReading
from milepost.roadmap.reading.markdown import Block, Item, Items, parse
from milepost.roadmap.reading.source import RoadmapSource
from milepost.roadmap.reading.statements import key_of

MOST_LINES = 12


def left_out(source: RoadmapSource, boxed: DialectReading) -> tuple[Problem, ...]:
    """One thing to look at for each kind of item that was not read as a task, with the lines they are in."""
    said_already = {problem.line for problem in boxed.problems}
    plain = [line for line in _without_box(parse(source).blocks) if line not in said_already]
    marked = [line for line in _marked_otherwise(source, boxed) if line not in plain]
    without = "no box, as others of their list have: they are no tasks"
    other = "marked in another way than with a box, as other tasks here are: they are no tasks"
    return (*_problem(plain, without), *_problem(marked, other))


def _problem(lines: Sequence[int], why: str) -> Iterator[Problem]:
    if lines:
        shown = ", ".join(map(str, lines[:MOST_LINES])) + (" …" if len(lines) > MOST_LINES else "")
        what = "1 item left out" if len(lines) == 1 else f"{len(lines)} items left out"
        message = f"{what} (line {shown}): {why}; write `- [ ] ` before what is one"
        yield Problem(line=lines[0], message=message, kind="left out")


def _without_box(blocks: Sequence[Block]) -> Iterator[int]:
    """The lines of items without a box in lists at the top where others have one; statements are of the item before."""
    for block in blocks:
        if isinstance(block, Items) and any(item.box is not None for item in block.items):
            plain = (item for item in block.items if item.box is None and not _is_heading(item))
            yield from (item.line + 1 for item in plain if _says_something(item))


def _is_heading(item: Item) -> bool:
    """Whether it stands above items with boxes, which it is the heading of."""
    lists = [block for block in item.blocks if isinstance(block, Items)]
    return any(each.box is not None or _is_heading(each) for block in lists for each in block.items)


def _says_something(item: Item) -> bool:
    text = item.first.lines[0].strip() if item.first.lines else ""
    return bool(text) and key_of(text) is None


def _marked_otherwise(source: RoadmapSource, boxed: DialectReading) -> Iterator[int]:
    """The lines of tasks by emoji or in tables, outside of what belongs to a box."""
    if not any("|" in line or line.count(":") > 1 or not line.isascii() for line in source.lines):
        return  # neither is there; looking for them takes imports that most roadmaps do without
    from milepost.roadmap.dialects.outline import outline_of
    from milepost.roadmap.dialects.status_signs import read_signed
    from milepost.roadmap.dialects.table import read_tables

    blocks = parse(source).blocks
    taken = {draft.line for top in boxed.drafts for draft in top.walk()}
    outline = outline_of(parse(source), source)
    signed, kinds = read_signed(outline, emoji=True)
    drafts = (*(signed.drafts if kinds["emoji"] else ()), *read_tables(outline).drafts)
    inside = [range(item.line + 1, item.end + 1) for item in _boxed_items(blocks)]
    lines = {draft.line + 1 for draft in drafts if draft.line not in taken}
    yield from sorted(line for line in lines if not any(line in place for place in inside))


def _boxed_items(blocks: Sequence[Block]) -> Iterator[Item]:
    for block in blocks:
        if isinstance(block, Items):
            yield from (item for item in block.items if item.box is not None)
