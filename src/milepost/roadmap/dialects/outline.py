"""A document as sections below headings, and what stands in them as drafts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from milepost.core.task import Priority
from milepost.roadmap.dialects.signs import sign_in
from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.drafts import Draft
from milepost.roadmap.reading.ids import LONGEST, split_id
from milepost.roadmap.reading.markdown import Block, Heading, Item, Items, MarkdownDocument, Paragraph, parse
from milepost.roadmap.reading.source import RoadmapSource, source_of
from milepost.roadmap.reading.task_lines import Details, details_of
from milepost.roadmap.reading.titles import perhaps_depends, plain, split_depends

_ID = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
_PRIORITIES: dict[str, Priority] = {
    **dict.fromkeys(("high", "highest", "critical", "urgent", "must", "p0", "p1", "a"), "high"),
    **dict.fromkeys(("medium", "normal", "moderate", "should", "p2", "b"), "medium"),
    **dict.fromkeys(("low", "lowest", "minor", "could", "p3", "p4", "c"), "low"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingSection:
    """A heading with the blocks below it, up to the next heading of any level; the first one has no heading.

    `above` are the positions of the sections that it is in, the outermost first; `end` is the line after all that is
    in it, its own sections, too.
    """

    heading: Heading | None
    above: tuple[int, ...]
    blocks: tuple[Block, ...]
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words that a task stands below."""

    phase: str = ""
    section: str = ""
    path: tuple[str, ...] = ()

    def below(self, title: str) -> Words:
        return Words(phase=self.phase, section=self.section, path=(*self.path, title))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """All sections in the order of the file."""

    sections: tuple[HeadingSection, ...]
    source: RoadmapSource

    def words(self, position: int, *, inside: bool = True) -> Words:
        """What stands above the things in a section, or above the section itself."""
        section = self.sections[position]
        chain = [self.sections[above].heading for above in section.above] + ([section.heading] if inside else [])
        path = [_without_sign(heading.text) for heading in chain if heading is not None]
        # The title of the document is no phase where there is a heading below it.
        phases = path[1:2] if len(path) > 1 else path[:1]
        return Words(phase="".join(phases), section=path[-1] if len(path) > 2 else "", path=tuple(path))

    def inner(self, position: int) -> range:
        """The positions of the sections in a section."""
        after = position + 1
        while after < len(self.sections) and position in self.sections[after].above:
            after += 1
        return range(position + 1, after)


def outline_of(document: MarkdownDocument, source: RoadmapSource) -> Outline:
    """The sections of a document; headings in lists are of no section."""
    parts: list[tuple[Heading | None, tuple[int, ...], list[Block]]] = [(None, (), [])]
    for block in document.blocks:
        if isinstance(block, Heading):
            above = [
                position
                for position in (*parts[-1][1], len(parts) - 1)
                if (heading := parts[position][0]) is not None and heading.level < block.level
            ]
            parts.append((block, tuple(above), []))
        else:
            parts[-1][2].append(block)
    ends = _ends([heading for heading, _, _ in parts], len(source.lines))
    sections = (
        HeadingSection(heading=heading, above=above, blocks=tuple(blocks), end=end)
        for (heading, above, blocks), end in zip(parts, ends, strict=True)
    )
    return Outline(sections=tuple(sections), source=source)


def _ends(headings: Sequence[Heading | None], last: int) -> list[int]:
    """For each heading the line at which the next one begins that is not below it."""
    ends = [last] * len(headings)
    opened: list[int] = []
    for position, heading in enumerate(headings):
        if heading is None:
            continue
        while opened and (before := headings[opened[-1]]) is not None and before.level >= heading.level:
            ends[opened.pop()] = heading.line
        opened.append(position)
    first = next((heading.line for heading in headings if heading is not None), last)
    return [first if heading is None else end for heading, end in zip(headings, ends, strict=True)]


def text_below(source: RoadmapSource, start: int, end: int, covers: frozenset[int]) -> str:
    """The lines as they were written, without the white space that all start with and without statements."""
    lines = [source.lines[line] for line in range(start, end) if line not in covers]
    indents = [len(line) - len(line.lstrip()) for line in lines if line and not line.isspace()]
    width = min(indents, default=0)
    return "\n".join(line[width:] for line in lines).strip("\n")


def draft_of_item(
    item: Item, title: str, words: Words, source: RoadmapSource, *, box: Box | None, ticked: bool
) -> Draft:
    """A draft of a list item with this title, which is its line without what says the status."""
    first = item.first
    draft = _draft(first.line, title, words, item, box=box, ticked=ticked)
    covers = draft.details.covers
    first_end = first.line + len(first.lines)
    wrapped = [source.lines[line].strip() for line in range(first.line + 1, first_end) if line not in covers]
    below = text_below(source, first_end, max(first_end, item.end), covers)
    text = "\n".join([*wrapped, *([below] if below else [])])
    return replace(draft, text=text, span=(first.line, max(first_end, item.end)))


def draft_of_section(outline: Outline, position: int, title: str, *, box: Box | None, ticked: bool) -> Draft:
    """A draft of a heading with this title; all that stands below it is its text."""
    section = outline.sections[position]
    assert section.heading is not None
    line = section.heading.line
    blocks = [*section.blocks]
    for inner in outline.inner(position):
        blocks += outline.sections[inner].blocks
    item = Item(line=line, end=section.end, box=None, blocks=(Paragraph(line=line, lines=(title,)), *blocks))
    draft = _draft(line, title, outline.words(position, inside=False), item, box=box, ticked=ticked)
    start = line + 1 + section.heading.text.count("\n")
    if start < section.end and re.fullmatch(r"[\s>]*(?:=+|-+)\s*", outline.source.lines[start]):
        start += 1
    text = re.sub(r"\n+[-*_]{3,}$", "", text_below(outline.source, start, section.end, draft.details.covers))
    return replace(draft, text=text, span=(line, section.end))


def draft_of_text(line: int, title: str, text: str, words: Words, *, box: Box | None, ticked: bool) -> Draft:
    """A draft of what was written in no Markdown of the roadmap's own, such as a string of JSON."""
    inner = source_of(text.replace("\0", " ").encode(errors="replace"))
    blocks = (Paragraph(line=-1, lines=(title,)), *(parse(inner).blocks if text else ()))
    draft = _draft(line, title, words, Item(line=line, end=line, box=None, blocks=blocks), box=box, ticked=ticked)
    kept = text_below(inner, 0, len(inner.lines), draft.details.covers)
    return replace(draft, text=kept, details=_all_on(line, draft.details))


def safe_id(written: str) -> str:
    """The id that an author wrote where ids are written; nothing where it could not be a name."""
    name = written.strip().strip("`*#").strip()
    good = _ID.fullmatch(name) and len(name) <= LONGEST and not name.lower().endswith(".lock")
    return name if good else ""


def priority_of(word: str) -> Priority:
    """What one of the usual words for a priority says."""
    first = re.split(r"[\s(,/]", plain(word).lower().lstrip("🔴🟡🟢🟠🔥 "), maxsplit=1)[0]
    return _PRIORITIES.get(first, "")


def shown(title: str, most: int = 60) -> str:
    """A title for a message."""
    text = plain(title)
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _draft(line: int, written: str, words: Words, item: Item, *, box: Box | None, ticked: bool) -> Draft:
    title, depends = split_depends(plain(written))
    explicit, title = split_id(title)
    return Draft(
        line=line,
        title=title,
        ticked=ticked,
        box=box,
        explicit=explicit,
        phase=words.phase,
        section=words.section,
        place=words.path,
        details=details_of(item, inline=depends, perhaps=perhaps_depends(title)),
        guess=True,
    )


def without_lists(item: Item, dropped: Sequence[Items]) -> Item:
    """The item without these lists of it, and without what comes after the first of them."""
    if not dropped:
        return item
    start = min(block.items[0].line for block in dropped if block.items)
    kept = tuple(block for block in item.blocks if not any(block is gone for gone in dropped))
    return Item(line=item.line, end=start, box=item.box, blocks=kept)


def _without_sign(heading: str) -> str:
    """The words of a heading; what tells its status may change, and the ids of what is below it may not."""
    sign = sign_in(heading)
    return plain(sign.title if sign is not None else heading)


def _all_on(line: int, details: Details) -> Details:
    problems = tuple(replace(problem, line=line + 1) for problem in details.problems)
    return replace(details, depends=tuple((line, name) for _, name in details.depends), problems=problems)
