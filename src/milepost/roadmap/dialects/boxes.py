"""GitHub's task lists: each box is a task, and stands below headings, items and other boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from milepost.core.task import Problem
from milepost.roadmap.drafts import Draft, Reading
from milepost.roadmap.ids import split_id
from milepost.roadmap.lines import Details, details_of
from milepost.roadmap.markdown import DEEPEST_LEVEL, Block, Document, Heading, Item, Items, parse
from milepost.roadmap.marks import Mark
from milepost.roadmap.source import Source
from milepost.roadmap.titles import plain, split_depends

_PHASE = re.compile(r"(?:phase|milestone|stage|sprint|epic)\s+(?:\d|[ivx]+\b|[a-z]\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    phase: str
    section: str
    path: tuple[str, ...]


def read(source: Source) -> Reading:
    """The top-level boxes with the boxes below them, in the order of the file."""
    document = parse(source)
    phase_level = _phase_level(document)
    headings: list[Heading] = []
    drafts: list[Draft] = []
    for block in document.blocks:
        match block:
            case Heading():
                headings = [heading for heading in headings if heading.level < block.level]
                headings.append(Heading(level=block.level, text=plain(block.text)))
            case Items():
                drafts += _drafts([block], _place(headings, phase_level), source)
            case _:
                pass
    return Reading(drafts=tuple(drafts), problems=tuple(_too_deep(document)))


def _too_deep(document: Document) -> Iterator[Problem]:
    if document.too_deep:
        message = f"nested more than {DEEPEST_LEVEL} levels deep: boxes there are left out, here and in"
        more = len(document.too_deep) - 1
        yield Problem(line=document.too_deep[0] + 1, message=f"{message} {more} more places")


def _phase_level(document: Document) -> int:
    """The level of the headings that are phases: those that say so, else the second, else the highest there is."""
    headings = [block for block in document.blocks if isinstance(block, Heading)]
    levels = {heading.level for heading in headings}
    named = {heading.level for heading in headings if _PHASE.match(plain(heading.text))}
    if named:
        return min(named)
    return 2 if 2 in levels else min(levels, default=1)


def _place(headings: Sequence[Heading], phase_level: int) -> _Place:
    phases = [heading.text for heading in headings if heading.level <= phase_level]
    sections = [heading.text for heading in headings if heading.level > phase_level]
    return _Place(
        phase=phases[-1] if phases else "",
        section=sections[-1] if sections else "",
        path=tuple(heading.text for heading in headings),
    )


def _drafts(blocks: Sequence[Block], place: _Place, source: Source) -> Iterator[Draft]:
    """The nearest boxes below: an item without a box is a heading for its children."""
    for block in blocks:
        for item in block.items if isinstance(block, Items) else ():
            if item.box is not None:
                yield _draft(item, item.box, place, source)
            elif any(isinstance(below, Items) for below in item.blocks):
                heading = plain(item.first.lines[0])
                section = place.section or heading.rstrip(":")
                below = _Place(phase=place.phase, section=section, path=(*place.path, heading))
                yield from _drafts(item.blocks, below, source)


def _draft(item: Item, mark: Mark, place: _Place, source: Source) -> Draft:
    line, depends = split_depends(plain(item.first.lines[0]))
    explicit, title = split_id(line)
    details = details_of(item, inline=depends)
    # Subtasks stand below the words of their task, so that what is below two tasks of one wording differs by id.
    path = (*place.path, f"{explicit} {title}".strip())
    return Draft(
        line=item.line,
        title=title,
        ticked=mark.ticked,
        mark=mark,
        explicit=explicit,
        phase=place.phase,
        section=place.section,
        place=place.path,
        text=_text(item, details, source),
        details=details,
        subtasks=tuple(_drafts(item.blocks, _Place(phase=place.phase, section=place.section, path=path), source)),
    )


def _text(item: Item, details: Details, source: Source) -> str:
    """What stands below the title line as it was written, without the item's indent and its statements."""
    first, covers = item.first, details.covers
    first_end = first.line + len(first.lines)
    wrapped = [source.lines[line].strip() for line in range(first.line + 1, first_end) if line not in covers]
    below = [source.lines[line] for line in range(first_end, item.end) if line not in covers]
    return "\n".join([*wrapped, *_dedented(below)]).strip("\n")


def _dedented(lines: Sequence[str]) -> list[str]:
    """The lines without the white space that all of them start with."""
    indents = [line[: len(line) - len(line.lstrip())] for line in lines if line and not line.isspace()]
    # What the first and the last in sorted order have in common, all have.
    ends = zip(min(indents, default=""), max(indents, default=""), strict=False)
    width = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    return [line[width:] for line in lines]
