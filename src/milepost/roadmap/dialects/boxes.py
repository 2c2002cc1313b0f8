"""GitHub's task lists: each box is a task, and stands below headings, items and other boxes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from milepost.core.task import Problem
from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.drafts import DialectReading, Draft
from milepost.roadmap.reading.ids import series_in
from milepost.roadmap.reading.markdown import (
    DEEPEST_LEVEL,
    Block,
    Fence,
    Item,
    Items,
    MarkdownDocument,
    Paragraph,
    parse,
)
from milepost.roadmap.reading.odd_boxes import odd_boxes
from milepost.roadmap.reading.outline import (
    OutlinePosition,
    Stretch,
    about_the_last,
    has_boxes,
    is_task_list,
    own,
    stretches_of,
    with_said,
)
from milepost.roadmap.reading.source import RoadmapSource
from milepost.roadmap.reading.statements import key_of
from milepost.roadmap.reading.task_lines import Details, details_in, details_of
from milepost.roadmap.reading.title_line import title_line
from milepost.roadmap.reading.titles import plain

# The blocks after a list that are about its last task.
After = tuple[Fence | Paragraph, ...]


def read(source: RoadmapSource) -> DialectReading:
    """The top-level boxes with the boxes below them, in the order of the file."""
    document = parse(source)
    reader = _Reader(source=source, series=series_in(_title_lines(document.blocks)))
    stretches = list(stretches_of(document, source))
    problems = (problem for stretch in stretches for problem in stretch.problems)
    return DialectReading(
        drafts=tuple(draft for stretch in stretches for draft in reader.drafts_of(stretch)),
        problems=(*_too_deep(document), *problems, *odd_boxes(document.blocks)),
    )


def _title_lines(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        for item in block.items if isinstance(block, Items) else ():
            if item.box is not None:
                yield item.first.lines[0].lstrip("*_ ").replace("**", " ", 1)
            yield from _title_lines(item.blocks)


def _too_deep(document: MarkdownDocument) -> Iterator[Problem]:
    if document.too_deep:
        message = f"nested more than {DEEPEST_LEVEL} levels deep: boxes there are left out, here and in"
        more = len(document.too_deep) - 1
        yield Problem(line=document.too_deep[0] + 1, message=f"{message} {more} more places")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Makes drafts of items; `series` are letters that this roadmap makes ids of."""

    source: RoadmapSource
    series: Collection[str]

    def drafts_of(self, stretch: Stretch) -> Iterator[Draft]:
        """Its tasks; what stands between two lists may be about the last task of one or all of the other."""
        place = stretch.place
        begun = False
        for position, block in enumerate(stretch.blocks):
            if is_task_list(block):
                yield from self._drafts([block], place, tuple(about_the_last(stretch.blocks, position + 1)))
                begun = True
            elif begun and isinstance(block, Paragraph) and key_of(block.lines[0]) == "files":
                place = replace(
                    place, files=details_in((block, *own(stretch.blocks[position + 1 : position + 2]))).files
                )

    def _drafts(self, blocks: Sequence[Block], place: OutlinePosition, after: After = ()) -> Iterator[Draft]:
        """The nearest boxes below: an item without a box is a heading for its children."""
        for block in blocks:
            items = block.items if isinstance(block, Items) else ()
            for item in items:
                if item.box is not None:
                    yield self._draft(item, item.box, place, after if item is items[-1] else ())
                elif has_boxes(item):
                    yield from self._drafts(item.blocks, _below(place, item))

    def _draft(self, item: Item, box: Box, place: OutlinePosition, after: After) -> Draft:
        line = title_line(item.first.lines[0], self.series)
        details = details_of(item, inline=line.depends, perhaps=line.perhaps, after=after)
        text = _text(line.rest, item, after, details, self.source)
        # Subtasks stand below the words of their task, so that what is below two tasks of one wording differs by id.
        path = (*place.path, f"{line.explicit} {line.wording}".strip())
        below = OutlinePosition(phase=place.phase, section=place.section, path=path)
        return Draft(
            line=item.line,
            title=line.title,
            wording=line.wording,
            ticked=box.ticked,
            box=box,
            explicit=line.explicit,
            phase=place.phase,
            section=place.section,
            place=place.path,
            text=text,
            details=_with_place(details, line.files, place),
            context=f"{place.context}\n\nStory {line.story}".strip() if line.story else place.context,
            priority=details.priority or place.priority,
            parallel=line.parallel,
            span=(item.line, max(item.end, *map(_end, after)) if after else item.end),
            subtasks=tuple(self._drafts(item.blocks, below)),
        )


def _with_place(details: Details, hinted: tuple[str, ...], place: OutlinePosition) -> Details:
    """What is said below a task with what its title and its place add: the nearest that names files names them all."""
    # A path in a title is likely, but not certain, to be all that the task is about.
    files = details.files or (() if "scope" in details.terms else hinted) or place.files
    if files == details.files and not place.prerequisites:
        return details
    return replace(details, files=files, prerequisites=(*place.prerequisites, *details.prerequisites))


def _below(place: OutlinePosition, item: Item) -> OutlinePosition:
    """The place of what is below an item without a box, which is a heading for it."""
    first = item.first
    heading = plain(first.lines[0])
    further = Paragraph(line=first.line + 1, lines=first.lines[1:])
    inner = replace(place, section=place.section or heading.rstrip(":"), path=(*place.path, heading))
    return with_said(inner, details_in(own((further, *item.blocks[1:]))), "\n".join(further.lines).strip())


def _text(rest: str, item: Item, after: After, details: Details, source: RoadmapSource) -> str:
    """What stands after and below the title as it was written, without the item's indent and its statements."""
    first, covers = item.first, details.covers
    first_end = first.line + len(first.lines)
    wrapped = [source.lines[line].strip() for line in range(first.line + 1, first_end) if line not in covers]
    below = [source.lines[line] for line in range(first_end, item.end) if line not in covers]
    lines = [*([rest] if rest else ()), *wrapped, *_dedented(below)]
    paragraphs = ["\n".join(lines).strip("\n")]
    for block in after:
        lines = [source.lines[line] for line in range(block.line, _end(block)) if line not in covers]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(filter(None, paragraphs))


def _end(block: Fence | Paragraph) -> int:
    return block.end if isinstance(block, Fence) else block.line + len(block.lines)


def _dedented(lines: Sequence[str]) -> list[str]:
    """The lines without the white space that all of them start with."""
    indents = [line[: len(line) - len(line.lstrip())] for line in lines if line and not line.isspace()]
    # What the first and the last in sorted order have in common, all have.
    ends = zip(min(indents, default=""), max(indents, default=""), strict=False)
    width = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    return [line[width:] for line in lines]
