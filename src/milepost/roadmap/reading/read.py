"""A roadmap's bytes as tasks."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache

from milepost.core.task import Problem, Roadmap, Task
from milepost.roadmap.dialects import reading_of
from milepost.roadmap.reading.bounds import NO_BOUNDS
from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.dependencies import Waits, dependencies
from milepost.roadmap.reading.drafts import Draft
from milepost.roadmap.reading.entries import TaskEntry, entries_of
from milepost.roadmap.reading.options import PLAIN, Manner
from milepost.roadmap.reading.source import source_of
from milepost.roadmap.reading.titles import unlinked

_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A roadmap, the box of every task in it that has one, and the lines of each, counted from 0, by its id."""

    roadmap: Roadmap
    boxes: dict[str, Box]
    spans: dict[str, tuple[int, int]]


def read(content: bytes, manner: Manner = PLAIN) -> Roadmap:
    """The tasks of a roadmap as GitHub would show its task lists, and what is odd about them."""
    return survey(content, manner).roadmap


@lru_cache(maxsize=4)
def survey(content: bytes, manner: Manner = PLAIN) -> Survey:
    """The tasks of a roadmap, with the place of each box."""
    with _all_kept():
        return _survey(content, manner)


@contextmanager
def _all_kept() -> Iterator[None]:
    """Without the collector of cycles, which would look at all that was read so far time and again: it is all kept."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _survey(content: bytes, manner: Manner) -> Survey:
    dialect, reading = reading_of(source_of(content), manner)
    drafts = reading.drafts
    entries, clashes = entries_of(drafts)
    depends, unresolved = dependencies(entries, drafts, manner)
    problems = [
        *_nothing_found(drafts),
        *_nothing_to_tick(entries),
        *reading.problems,
        *clashes,
        *_skipped(entries),
        *(replace(problem, page=entry.draft.page) for entry in entries for problem in entry.details.problems),
        *_bounds_too_deep(entries),
        *unresolved,
    ]
    by_draft = {id(entry.draft): entry for entry in entries}
    tasks = tuple(_task(draft, by_draft, depends) for draft in drafts)
    return Survey(
        roadmap=Roadmap(
            tasks=tasks,
            problems=tuple(sorted(problems, key=lambda problem: problem.line)),
            dialect=dialect,
            remarks=reading.remarks,
        ),
        boxes={entry.id: entry.draft.box for entry in entries if entry.draft.box is not None},
        spans={entry.id: _span(entry.draft) for entry in entries},
    )


def _span(draft: Draft) -> tuple[int, int]:
    """The lines of a draft and of all below it in the same file."""
    spans = [one.span or (one.line, one.line + 1) for one in draft.walk() if one.page == draft.page]
    return min(start for start, _ in spans), max(end for _, end in spans)


def _nothing_found(drafts: Sequence[Draft]) -> Iterator[Problem]:
    if not drafts:
        yield Problem(
            line=1,
            message="no task was found: write each task as a list item, `- [ ] what to do`, "
            "or let a model read it: milepost roadmap normalise",
        )


def _skipped(entries: Sequence[TaskEntry]) -> Iterator[Problem]:
    """One line for all that nothing is to be done about: what depends on such a task does not wait for it."""
    skipped = [entry for entry in entries if entry.draft.skipped]
    if skipped:
        names = ", ".join(entry.id for entry in skipped[:_NAMED])
        more = f" and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
        message = f"skipped, which counts as done: {names}{more}"
        yield Problem(line=skipped[0].line, message=message, page=skipped[0].draft.page)


def _nothing_to_tick(entries: Sequence[TaskEntry]) -> Iterator[Problem]:
    bare = [entry for entry in entries if entry.draft.box is None and not entry.draft.ticked]
    if bare:
        has = "has" if len(bare) == 1 else f"and {len(bare) - 1} more have"
        message = f"{bare[0].id} {has} no checkbox: only mileposts record what is done"
        yield Problem(line=bare[0].line, message=message, page=bare[0].draft.page, kind="no box")


def _bounds_too_deep(entries: Sequence[TaskEntry]) -> Iterator[Problem]:
    """What bounds a subtask holds nothing: it is done in the attempt of its task."""
    for entry in entries:
        if entry.id != entry.top and entry.details.bounds != NO_BOUNDS:
            message = f"{entry.id} is done together with {entry.top}: write its limits below {entry.top}"
            yield Problem(line=entry.line, message=message, page=entry.draft.page, kind="bounds")


def _task(draft: Draft, by_draft: dict[int, TaskEntry], depends: dict[str, Waits]) -> Task:
    entry = by_draft[id(draft)]
    subtasks = tuple(_task(subtask, by_draft, depends) for subtask in draft.subtasks)
    title, text = _without_targets(entry.title, draft.text)
    return Task(
        id=entry.id,
        title=title,
        status="done" if draft.ticked else "open",
        line=entry.line,
        phase=draft.phase,
        section=draft.section,
        text=text,
        depends_on=depends[entry.id].here,
        depends_elsewhere=depends[entry.id].elsewhere,
        files=entry.details.files,
        verify=entry.details.verify,
        agent=entry.details.agent,
        inputs=entry.details.inputs,
        tests_may_change="tests" in entry.details.terms,
        changes_nothing="changes" in entry.details.terms,
        only_its_files="scope" in entry.details.terms,
        keeps_behaviour="behaviour" in entry.details.terms,
        verify_hidden=entry.details.verify_hidden,
        budget=entry.details.bounds.budget,
        timeout_s=entry.details.bounds.timeout_s,
        approve=entry.details.bounds.approve,
        needs=tuple(dict.fromkeys((*entry.details.needs, *(label for part in subtasks for label in part.needs)))),
        subtasks=subtasks,
        guess=draft.guess,
        context=draft.context,
        priority=draft.priority,
        parallel=draft.parallel,
        page=draft.page,
        tickable=draft.box is not None,
        awaits=depends[entry.id].items,
    )


def _without_targets(title: str, text: str) -> tuple[str, str]:
    """A title with the words of its links alone; where they lead is kept in the text."""
    words = unlinked(title).strip()
    return (words, f"{title}\n\n{text}".strip()) if words and words != title else (title, text)
