"""Where each box of a roadmap stands: below which headings, items and boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from milepost.roadmap.ids import split_id
from milepost.roadmap.markdown import Block, Box, Document, Heading, Item, Items
from milepost.roadmap.titles import plain, split_depends

_PHASE = re.compile(r"(?:phase|milestone|stage|sprint|epic)\s+(?:\d|[ivx]+\b|[a-z]\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A task before it has an id: what its title line says, and its place in the outline."""

    item: Item
    box: Box
    explicit: str
    title: str
    depends: str
    phase: str
    section: str
    place: tuple[str, ...]
    subtasks: tuple[Draft, ...]

    def walk(self) -> Iterator[Draft]:
        """This draft and all below it, in the order of the file."""
        yield self
        for subtask in self.subtasks:
            yield from subtask.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    phase: str
    section: str
    path: tuple[str, ...]


def drafts_of(document: Document) -> tuple[Draft, ...]:
    """The top-level boxes with the boxes below them, in the order of the file."""
    phase_level = _phase_level(document)
    headings: list[Heading] = []
    drafts: list[Draft] = []
    for block in document.blocks:
        match block:
            case Heading():
                headings = [heading for heading in headings if heading.level < block.level]
                headings.append(Heading(level=block.level, text=plain(block.text)))
            case Items():
                drafts += _drafts([block], _place(headings, phase_level))
            case _:
                pass
    return tuple(drafts)


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


def _drafts(blocks: Sequence[Block], place: _Place) -> Iterator[Draft]:
    """The nearest boxes below: an item without a box is a heading for its children."""
    for block in blocks:
        for item in block.items if isinstance(block, Items) else ():
            if item.box is not None:
                yield _draft(item, item.box, place)
            elif any(isinstance(below, Items) for below in item.blocks):
                heading = plain(item.first.lines[0])
                section = place.section or heading.rstrip(":")
                yield from _drafts(item.blocks, _Place(phase=place.phase, section=section, path=(*place.path, heading)))


def _draft(item: Item, box: Box, place: _Place) -> Draft:
    line, depends = split_depends(plain(item.first.lines[0]))
    explicit, title = split_id(line)
    # Subtasks stand below the words of their task, so that what is below two tasks of one wording differs by id.
    path = (*place.path, f"{explicit} {title}".strip())
    return Draft(
        item=item,
        box=box,
        explicit=explicit,
        title=title,
        depends=depends,
        phase=place.phase,
        section=place.section,
        place=place.path,
        subtasks=tuple(_drafts(item.blocks, _Place(phase=place.phase, section=place.section, path=path))),
    )
