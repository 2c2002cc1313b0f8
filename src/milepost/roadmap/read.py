"""A roadmap's bytes as tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from milepost.core.task import Problem, Roadmap, Task, TaskElsewhere
from milepost.roadmap.bounds import NO_BOUNDS
from milepost.roadmap.dialects import reading_of
from milepost.roadmap.drafts import Draft
from milepost.roadmap.ids import Claim, derived_id, settle
from milepost.roadmap.lines import Details
from milepost.roadmap.manner import PLAIN, Manner
from milepost.roadmap.marks import Mark
from milepost.roadmap.references import Named, References, Unresolved
from milepost.roadmap.source import source_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A roadmap, and the mark of every task in it that has one, by its id."""

    roadmap: Roadmap
    marks: dict[str, Mark]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A draft with its id and the id of the top-level task it is done with."""

    draft: Draft
    id: str
    top: str

    @property
    def details(self) -> Details:
        return self.draft.details

    @property
    def title(self) -> str:
        return self.draft.title or self.id

    @property
    def line(self) -> int:
        return self.draft.line + 1


def read(content: bytes, manner: Manner = PLAIN) -> Roadmap:
    """The tasks of a roadmap as GitHub would show its task lists, and what is odd about them."""
    return survey(content, manner).roadmap


def survey(content: bytes, manner: Manner = PLAIN) -> Survey:
    """The tasks of a roadmap, with the place of each mark."""
    dialect, reading = reading_of(source_of(content), manner)
    drafts = reading.drafts
    entries, clashes = _entries(drafts)
    depends, unresolved = _dependencies(entries, manner)
    problems = [
        *_nothing_found(drafts),
        *reading.problems,
        *clashes,
        *(problem for entry in entries for problem in entry.details.problems),
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
        marks={entry.id: entry.draft.mark for entry in entries if entry.draft.mark is not None},
    )


def _nothing_found(drafts: Sequence[Draft]) -> Iterator[Problem]:
    if not drafts:
        yield Problem(line=1, message="no checkbox was found: write each task as a list item, `- [ ] what to do`")


def _entries(drafts: Sequence[Draft]) -> tuple[list[_Entry], list[Problem]]:
    """Every draft with an id of its own, in the order of the file, and who wanted the same one."""
    everyone = [(draft, top) for top in drafts for draft in top.walk()]
    claims = [
        Claim(
            id=draft.explicit or derived_id(draft.title, draft.place), explicit=bool(draft.explicit), top=draft is top
        )
        for draft, top in everyone
    ]
    ids, clashes = settle(claims)
    own = {id(draft): name for (draft, _), name in zip(everyone, ids, strict=True)}
    entries = [_Entry(draft=draft, id=own[id(draft)], top=own[id(top)]) for draft, top in everyone]
    problems = [
        Problem(
            line=entries[second].line,
            message=f"lines {entries[first].line} and {entries[second].line} both stand for {claims[second].id}: "
            f"the one on line {entries[second].line} is called {ids[second]}",
        )
        for second, first in clashes.items()
    ]
    return entries, problems


def _bounds_too_deep(entries: Sequence[_Entry]) -> Iterator[Problem]:
    """What bounds a subtask holds nothing: it is done in the attempt of its task."""
    for entry in entries:
        if entry.id != entry.top and entry.details.bounds != NO_BOUNDS:
            message = f"{entry.id} is done together with {entry.top}: write its bounds below {entry.top}"
            yield Problem(line=entry.line, message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waits:
    """Whom an entry waits for: top-level tasks of this roadmap, and tasks of other projects."""

    here: tuple[str, ...]
    elsewhere: tuple[TaskElsewhere, ...]


def _dependencies(entries: Sequence[_Entry], manner: Manner) -> tuple[dict[str, _Waits], list[Problem]]:
    """Whom each entry waits for, and the references that lead nowhere."""
    references = References([Named(id=entry.id, title=entry.title) for entry in entries], dict(manner.projects))
    depends: dict[str, _Waits] = {}
    problems = []
    for entry in entries:
        waits_for: dict[str, None] = {}
        elsewhere: dict[TaskElsewhere, None] = {}
        for line, value in entry.details.depends:
            for found in references.resolve(value):
                if isinstance(found, Unresolved):
                    message = f"{entry.id} depends on {found}"
                    problems.append(Problem(line=line + 1, message=message, fatal=True))
                elif isinstance(found, TaskElsewhere):
                    elsewhere[replace(found, line=line + 1)] = None
                elif not _is_part_of(entry, entries[found]):
                    waits_for[entries[found].top] = None
        depends[entry.id] = _Waits(here=tuple(waits_for), elsewhere=tuple(elsewhere))
    return depends, problems


def _is_part_of(entry: _Entry, other: _Entry) -> bool:
    """Whether both are done in one attempt anyway; a task that names itself is a cycle, and stays one."""
    return entry.top == other.top and not (entry.id == other.id == entry.top)


def _task(draft: Draft, by_draft: dict[int, _Entry], depends: dict[str, _Waits]) -> Task:
    entry = by_draft[id(draft)]
    subtasks = tuple(_task(subtask, by_draft, depends) for subtask in draft.subtasks)
    return Task(
        id=entry.id,
        title=entry.title,
        status="done" if draft.ticked else "open",
        line=entry.line,
        phase=draft.phase,
        section=draft.section,
        text=draft.text,
        depends_on=depends[entry.id].here,
        depends_elsewhere=depends[entry.id].elsewhere,
        files=entry.details.files,
        verify=entry.details.verify,
        agent=entry.details.agent,
        inputs=entry.details.inputs,
        tests_may_change="tests" in entry.details.terms,
        changes_nothing="changes" in entry.details.terms,
        only_its_files="scope" in entry.details.terms,
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
    )
