"""What was found in prose, as a roadmap to be written: phases by the headings of the document, a line for each task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from milepost.core.task import Task
from milepost.roadmap.prose.normalise import Anchored
from milepost.roadmap.reading.titles import printable
from milepost.roadmap.writing.draft_roadmap import DraftSection, Manuscript, Phase
from milepost.roadmap.writing.safe_words import tame_heading, tame_name, with_priorities

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_NUMBERING = re.compile(r"^(?:(?:phase|milestone|stage|sprint|epic)\s+\S+?\s*[:.–—-]\s*|\d+(?:\.\d+)*[.):]?\s+)", re.I)


def manuscript_of(items: Sequence[Anchored], lines: Sequence[str], name: str, model: str) -> Manuscript:
    """The roadmap of a document called `name`; the items come in the order of their lines."""
    above = _headings_above(lines)
    groups = [list(group) for _, group in groupby(range(len(items)), key=lambda place: above[items[place].line - 1])]
    ids = {
        place: f"{phase}.{task}"
        for phase, group in enumerate(groups, start=1)
        for task, place in enumerate(group, start=1)
    }
    plain_name = printable(name)
    phases = tuple(
        Phase(
            name=f"Phase {number}: {_name(above[items[group[0]].line - 1], plain_name)}",
            sections=(DraftSection(tasks=tuple(_task(items[place], ids, place) for place in group)),),
        )
        for number, group in enumerate(groups, start=1)
    )
    manuscript = Manuscript(
        title=tame_name(f"Roadmap of {name}"),
        intro=f"Read from {_code(name)} by {_code(model)}; each task names the line that it comes from.",
        phases=phases,
        origins={ids[place]: f"{plain_name}:{item.line}" for place, item in enumerate(items)},
    )
    return with_priorities(manuscript)


def _task(item: Anchored, ids: dict[int, str], place: int) -> Task:
    return Task(
        id=ids[place],
        title=item.title,
        status=item.status,
        line=item.line,
        text=item.text,
        files=item.files,
        verify=item.verify,
        depends_on=tuple(ids[other] for other in item.after),
    )


def _name(heading: str, name: str) -> str:
    return tame_heading(_NUMBERING.sub("", heading), f"From {name}")


def _code(text: str) -> str:
    return f"`{printable(text).replace('`', chr(39))}`"


def _headings_above(lines: Sequence[str]) -> list[str]:
    """For each line the nearest heading above it, or itself; nothing where there is none."""
    found, heading, fenced = [], "", False
    for line in lines:
        fenced ^= bool(_FENCE.match(line))
        if not fenced and (match := _HEADING.match(line)):
            heading = match[2]
        found.append(heading)
    return found
