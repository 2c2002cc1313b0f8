"""A task as it is written: its own lines of a roadmap, and the roadmap with others in their place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from milepost.core.errors import EditRefused, RoadmapUnreadable, TaskUnknown
from milepost.core.folder_roadmap import is_bound, unbound
from milepost.core.task import Roadmap, Task
from milepost.roadmap.reading.options import PLAIN, Manner
from milepost.roadmap.reading.read import read, survey
from milepost.roadmap.reading.source import source_of

LONGEST = 100_000

_LINE_END = re.compile(rb"\r\n?|\n")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BY_HAND = "change it so that it stays one task, or edit the roadmap by hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The lines of one task: the bytes from `start` to `end`, without the last line's end; `line` counts from 1."""

    task: str
    start: int
    end: int
    line: int
    written: bytes
    page: str = ""

    @property
    def text(self) -> str:
        return "\n".join(line.decode() for line in _LINE_END.split(self.written))

    @property
    def digest(self) -> str:
        """The hash of its bytes, to be told from what they become."""
        return hashlib.sha256(self.written).hexdigest()


def passage_of(content: bytes, task: str, manner: Manner = PLAIN) -> Passage:
    """The lines of a task, with those of all below it."""
    found = survey(content, manner)
    known = next((one for top in found.roadmap.tasks for one in top.walk() if one.id.lower() == task.lower()), None)
    if known is None:
        raise TaskUnknown(f"no task of the roadmap has the id {task!r}", "milepost plan shows the tasks and their ids")
    page = unbound(content).get(known.page) if is_bound(content) else None
    source, shift = source_of(page.content if page else content), page.start if page else 0
    first, last = found.spans[known.id]
    while last > first + 1 and not source.lines[last - 1].strip():
        last -= 1
    start = source.starts[first]
    end = source.starts[last - 1] + len(source.lines[last - 1].encode())
    return Passage(
        task=known.id,
        start=start + shift,
        end=end + shift,
        line=first + 1,
        written=content[start + shift : end + shift],
        page=known.page,
    )


def rewritten(content: bytes, passage: Passage, text: str, manner: Manner = PLAIN) -> bytes:
    """The roadmap with other lines for one task; refused unless it reads as the same tasks, that one changed."""
    if len(text) > LONGEST:
        raise EditRefused(f"a task of {len(text)} characters is too long", f"shorten it to {LONGEST} characters")
    if odd := _CONTROL.search(text.replace("\r\n", "\n")):
        raise EditRefused(f"there is a control character in the text: {odd[0]!r}", "remove it")
    new = _with_ends(passage.written, text, usual_end(content))
    after = content[: passage.start] + new + content[passage.end :]
    _refuse_another(read(content, manner), _read_again(after, manner), passage.task)
    if passage_of(after, passage.task, manner).written.rstrip() != new.rstrip():
        raise EditRefused(f"not all of these lines would belong to task {passage.task}", _BY_HAND)
    return after


def _with_ends(written: bytes, text: str, usual: bytes) -> bytes:
    """The text in bytes: what stays at its beginning and end keeps its line ends, the rest gets the usual one."""
    try:
        new = [line.encode() for line in re.split(r"\r\n?|\n", text.strip("\r\n"))]
    except UnicodeEncodeError as error:
        raise EditRefused("the text contains an incomplete character", "write it again") from error
    old, ends = _LINE_END.split(written), [*_LINE_END.findall(written), b""]
    both = min(len(old), len(new)) - 1
    head = next((place for place in range(both) if old[place] != new[place]), both)
    left = both - head
    tail = next((place for place in range(left) if old[-1 - place] != new[-1 - place]), left)
    kept = ends[len(ends) - 1 - tail : -1]
    between = [usual] * (len(new) - 1 - head - len(kept))
    return b"".join(line + end for line, end in zip(new, [*ends[:head], *between, *kept, b""], strict=True))


def usual_end(content: bytes) -> bytes:
    """The line end that most lines have."""
    ends = _LINE_END.findall(content)
    return max(dict.fromkeys(ends), key=ends.count) if ends else b"\n"


def _read_again(content: bytes, manner: Manner) -> Roadmap:
    try:
        return read(content, manner)
    except RoadmapUnreadable as unreadable:
        raise EditRefused(f"the roadmap could not be read any more: {unreadable.message}", _BY_HAND) from unreadable


def _refuse_another(before: Roadmap, after: Roadmap, task: str) -> None:
    mine = next((one for top in after.tasks for one in top.walk() if one.id == task), None)
    if mine is None:
        raise EditRefused(f"it would not be task {task} any more", "keep its id, or its title where it has no id")
    if mine.title == mine.id != _titles(before, task):
        raise EditRefused(f"task {task} would have no title", "write what is to be done")
    if list(_others(before.tasks, task)) != list(_others(after.tasks, task)) or before.dialect != after.dialect:
        raise EditRefused("other tasks of the roadmap would change with it", _BY_HAND)


def _titles(roadmap: Roadmap, task: str) -> str:
    return next(one.title for top in roadmap.tasks for one in top.walk() if one.id == task)


def _others(tasks: tuple[Task, ...], task: str) -> Iterator[Task]:
    """All tasks but one and what is below it; of those above it, what is their own."""
    for one in tasks:
        if one.id == task:
            continue
        above = any(below.id == task for below in one.walk())
        yield replace(one, line=0, subtasks=(), needs=() if above else one.needs, text="" if above else one.text)
        yield from _others(one.subtasks, task)
