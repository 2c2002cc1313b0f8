"""A task of the user's roadmap, read and written by itself: every other byte stays as it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import EditRefused, MilepostError, RoadmapUnwritable, TaskChanged
from milepost.engine.authoring.write_file import rewrite
from milepost.engine.planning.make_plan import planned, ways_of
from milepost.engine.project.project import find_roadmap, read_bytes
from milepost.roadmap.editing.task_source import Passage, passage_of, rewritten
from milepost.roadmap.reading.options import Manner


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskText:
    """The lines of a task as its author wrote them; `digest` is their hash, `page` the file of a roadmap of several.

    `commit` is the one that an edit ended in, where it was asked for.
    """

    task: str
    text: str
    digest: str
    line: int
    page: str = ""
    commit: str = ""


def task_text(roadmap: Path | None, task: str) -> TaskText:
    """The lines of a task in the roadmap as it is now."""
    path = find_roadmap(roadmap)
    return _told(passage_of(read_bytes(path), task, ways_of(path)[0]))


def edit_task(roadmap: Path | None, task: str, text: str, digest: str = "") -> TaskText:
    """Write other lines for a task; with `digest`, only in the place of those that were shown under it."""
    path = find_roadmap(roadmap)
    manner = ways_of(path)[0]

    def change(content: bytes) -> bytes:
        passage = passage_of(content, task, manner)
        if digest and passage.digest != digest:
            raise TaskChanged(f"task {passage.task} has changed in the meantime", "look at it again, then edit it")
        after = rewritten(content, passage, text, manner)
        _refuse_unplannable(content, after, manner)
        _require_writable(path / passage.page if passage.page else path)
        return after

    rewrite(path, change)
    return task_text(path, task)


def _told(passage: Passage) -> TaskText:
    return TaskText(task=passage.task, text=passage.text, digest=passage.digest, line=passage.line, page=passage.page)


def _refuse_unplannable(before: bytes, after: bytes, manner: Manner) -> None:
    """Raise where no run could follow the roadmap any more, though it could before."""
    fatal = _fatal(after, manner)
    if fatal and not _fatal(before, manner):
        raise EditRefused(f"a run could not use that: {fatal}", "depend only on existing tasks, without a cycle")


def _fatal(content: bytes, manner: Manner) -> str:
    try:
        return next((problem.message for problem in planned(content, manner).problems if problem.fatal), "")
    except MilepostError as error:
        return error.message


def _require_writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise RoadmapUnwritable(f"{str(path)!r} cannot be written", "make it writable, then try again")
