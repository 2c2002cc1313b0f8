"""The outline of a roadmap: its phases and sections, and what each of them says to all tasks below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from milepost.core.task import Priority, Problem
from milepost.roadmap.reading.markdown import Block, Fence, Heading, Item, Items, MarkdownDocument, Paragraph
from milepost.roadmap.reading.source import RoadmapSource
from milepost.roadmap.reading.statements import Key, key_of, statements_in
from milepost.roadmap.reading.task_lines import Details, details_in, priority_in
from milepost.roadmap.reading.titles import plain

# How much of what stands above it a task is given, in characters: of one heading, and in all.
LONGEST_PROSE, LONGEST_CONTEXT = 1_900, 4_000

_PHASE = re.compile(
    r"(?:phase|milestone|stage|sprint|epic)\s+(?:\d|[ivx]+\b|[a-z]\b)|phase\s+[^\s:]+\s*(?::|[-–—](?=\s)|$)",
    re.IGNORECASE,
)
_PRIORITY = re.compile(
    r"(?P<before>critical|high|medium|low)[\s-]+priority\b|\bpriority:?\s+(?P<after>\w+)", re.IGNORECASE
)
_QUOTE = re.compile(r"^(?: {0,3}> ?)+")
_FOR_ALL: frozenset[Key] = frozenset({"files", "depends", "prerequisite", "priority"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlinePosition:
    """Where a task stands, and what is said there to all tasks: files, a priority, prerequisites, and prose."""

    phase: str = ""
    section: str = ""
    path: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    priority: Priority = ""
    prerequisites: tuple[tuple[int, str], ...] = ()
    prose: tuple[str, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A heading's own blocks, up to the next heading, with the place of the tasks among them."""

    place: OutlinePosition
    blocks: tuple[Block, ...]
    problems: tuple[Problem, ...] = ()


def stretches_of(document: MarkdownDocument, source: RoadmapSource) -> Iterator[Stretch]:
    """The stretches of a document, in its order; what stands before the first heading is one, too."""
    phase_level = _phase_level(document)
    above: list[tuple[int, OutlinePosition]] = []
    for heading, blocks in _by_heading(document):
        if heading is not None:
            above = [(level, place) for level, place in above if level < heading.level]
        outer = above[-1][1] if above else OutlinePosition()
        place = outer if heading is None else _below(outer, heading, phase_level)
        # What stands below the title of the whole roadmap is about the roadmap.
        details = details_in(own(blocks))
        if heading is None or heading.level >= phase_level:
            place = with_said(place, details, _prose(blocks, source))
        if heading is not None:
            above.append((heading.level, place))
        yield Stretch(place=place, blocks=tuple(blocks), problems=tuple(_for_nobody(blocks, details)))


def with_said(place: OutlinePosition, details: Details, prose: str) -> OutlinePosition:
    """The place with what is said there; files and a priority stand in for those of the place above."""
    if not (details.files or details.priority or details.prerequisites or details.depends or prose):
        return place
    said = (*place.prose, _cut(prose)) if prose else place.prose
    return replace(
        place,
        files=details.files or place.files,
        priority=details.priority or place.priority,
        prerequisites=(*place.prerequisites, *details.prerequisites, *details.depends),
        prose=said,
        context=_context(said),
    )


def about_the_last(blocks: Sequence[Block], start: int) -> Iterator[Fence | Paragraph]:
    """The blocks after a list, from `start` on, that are about its last task: code, and paragraphs of statements.

    Files that stand between two lists are those of the second.
    """
    for position in range(start, len(blocks)):
        block = blocks[position]
        key = key_of(block.lines[0]) if isinstance(block, Paragraph) else None
        if not (isinstance(block, Fence) or (isinstance(block, Paragraph) and key)):
            return
        if key == "files" and any(is_task_list(blocks[later]) for later in range(position + 1, len(blocks))):
            return
        yield block


def is_task_list(block: Block) -> bool:
    """Whether there are tasks in a block."""
    return isinstance(block, Items) and any(map(has_boxes, block.items))


def own(blocks: Sequence[Block]) -> list[Block]:
    """The blocks that are about all tasks: those before the first box, without items that have boxes below them."""
    kept: list[Block] = []
    for block in blocks:
        if not isinstance(block, Items):
            kept.append(block)
            continue
        plain_items = tuple(item for item in block.items if not has_boxes(item))
        if plain_items:
            kept.append(Items(items=plain_items))
        if len(plain_items) < len(block.items):
            break
    return kept


def has_boxes(item: Item) -> bool:
    """Whether an item is a task, or there is one below it."""
    if item.box is not None:
        return True
    return any(has_boxes(below) for block in item.blocks if isinstance(block, Items) for below in block.items)


def _by_heading(document: MarkdownDocument) -> Iterator[tuple[Heading | None, list[Block]]]:
    heading: Heading | None = None
    blocks: list[Block] = []
    for block in document.blocks:
        if isinstance(block, Heading):
            yield heading, blocks
            heading, blocks = block, []
        else:
            blocks.append(block)
    yield heading, blocks


def _phase_level(document: MarkdownDocument) -> int:
    """The level of the headings that are phases: those that say so, else the second, else the highest there is."""
    headings = [block for block in document.blocks if isinstance(block, Heading)]
    levels = {heading.level for heading in headings}
    named = {heading.level for heading in headings if _PHASE.match(plain(heading.text))}
    if named:
        return min(named)
    return 2 if 2 in levels else min(levels, default=1)


def _below(outer: OutlinePosition, heading: Heading, phase_level: int) -> OutlinePosition:
    text = plain(heading.text)
    is_phase = heading.level <= phase_level
    found = _PRIORITY.search(text)
    return replace(
        outer,
        phase=text if is_phase else outer.phase,
        section="" if is_phase else text,
        path=(*outer.path, text),
        priority=(priority_in(found["before"] or found["after"]) if found else "") or outer.priority,
    )


def _prose(blocks: Sequence[Block], source: RoadmapSource) -> str:
    """What a heading says in its own words, without its tasks and the lines that name files."""
    stated = statements_in([block for block in blocks if not is_task_list(block)])
    files = frozenset(line for one in stated if one.key == "files" for line in one.covers)
    parts: list[str] = []
    left, position = LONGEST_PROSE, 0
    while position < len(blocks) and left >= 0:
        block = blocks[position]
        position += 1
        if is_task_list(block):
            position += sum(1 for _ in about_the_last(blocks, position))
        elif said := "\n".join(text for line, text in _lines(block, source) if line not in files):
            parts.append(said)
            left -= len(said)
    return "\n\n".join(parts)


def _lines(block: Block, source: RoadmapSource) -> Iterator[tuple[int, str]]:
    """The lines of a block with their numbers, out of any quote."""
    match block:
        case Paragraph():
            yield from ((line, text.strip()) for line, text in enumerate(block.lines, block.line))
        case Fence():
            yield from ((line, _QUOTE.sub("", source.lines[line])) for line in range(block.line, block.end))
        case Items():
            numbers = range(block.items[0].line, block.items[-1].end)
            yield from ((line, _QUOTE.sub("", source.lines[line]).rstrip()) for line in numbers)
        case _:
            pass


def _cut(prose: str) -> str:
    return prose if len(prose) <= LONGEST_PROSE else f"{prose[: LONGEST_PROSE - 2].rstrip()} …"


def _context(prose: Sequence[str]) -> str:
    """What is said above, the nearest last; where that is too much, the nearest is kept."""
    kept: list[str] = []
    left = LONGEST_CONTEXT
    for said in reversed(prose):
        left -= len(said) + 2
        if left < 0:
            break
        kept.append(said)
    return "\n\n".join(reversed(kept)).strip()


def _for_nobody(blocks: Sequence[Block], details: Details) -> Iterator[Problem]:
    """What is stated below a heading and holds for no task."""
    if not details.covers or not any(map(is_task_list, blocks)):
        return
    for statement in statements_in(own(blocks)):
        if statement.key not in _FOR_ALL and statement.line in details.covers:
            message = f"{statement.key} belongs to a task: under a heading it has no effect"
            yield Problem(line=statement.line + 1, message=message)
