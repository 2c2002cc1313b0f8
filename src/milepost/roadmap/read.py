"""A roadmap's bytes as tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from milepost.core.task import Problem, Roadmap, Task, TaskElsewhere
from milepost.roadmap.bounds import NO_BOUNDS
from milepost.roadmap.box import Box
from milepost.roadmap.dialects import reading_of
from milepost.roadmap.drafts import Draft
from milepost.roadmap.earlier import Earlier
from milepost.roadmap.ids import Claim, derived_id, settle
from milepost.roadmap.lines import Details
from milepost.roadmap.manner import PLAIN, Manner
from milepost.roadmap.references import Below, Named, References, Unresolved
from milepost.roadmap.source import source_of

_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A roadmap, the box of every task in it that has one, and the lines of each, counted from 0, by its id."""

    roadmap: Roadmap
    boxes: dict[str, Box]
    spans: dict[str, tuple[int, int]]


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


@lru_cache(maxsize=4)
def survey(content: bytes, manner: Manner = PLAIN) -> Survey:
    """The tasks of a roadmap, with the place of each box."""
    dialect, reading = reading_of(source_of(content), manner)
    drafts = reading.drafts
    entries, clashes = _entries(drafts)
    depends, unresolved = _dependencies(entries, drafts, manner)
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


def _skipped(entries: Sequence[_Entry]) -> Iterator[Problem]:
    """One line for all that nothing is to be done about: what depends on such a task does not wait for it."""
    skipped = [entry for entry in entries if entry.draft.skipped]
    if skipped:
        names = ", ".join(entry.id for entry in skipped[:_NAMED])
        more = f" and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
        message = f"skipped, which counts as done: {names}{more}"
        yield Problem(line=skipped[0].line, message=message, page=skipped[0].draft.page)


def _nothing_to_tick(entries: Sequence[_Entry]) -> Iterator[Problem]:
    bare = [entry for entry in entries if entry.draft.box is None and not entry.draft.ticked]
    if bare:
        has = "has" if len(bare) == 1 else f"and {len(bare) - 1} more have"
        message = f"{bare[0].id} {has} no box to tick: what is done is known from mileposts alone"
        yield Problem(line=bare[0].line, message=message, page=bare[0].draft.page, kind="no box")


def _entries(drafts: Sequence[Draft]) -> tuple[list[_Entry], list[Problem]]:
    """Every draft with an id of its own, in the order of the file, and who wanted the same one."""
    everyone = [(draft, top) for top in drafts for draft in top.walk()]
    claims = [
        Claim(
            id=draft.explicit or derived_id(draft.wording or draft.title, draft.place),
            explicit=bool(draft.explicit),
            top=draft is top,
        )
        for draft, top in everyone
    ]
    ids, clashes = settle(claims)
    own = {id(draft): name for (draft, _), name in zip(everyone, ids, strict=True)}
    entries = [_Entry(draft=draft, id=own[id(draft)], top=own[id(top)]) for draft, top in everyone]
    problems = [
        Problem(
            line=entries[second].line,
            message=f"{_both(entries[first], entries[second])} both stand for {claims[second].id}: "
            f"the one {_where(entries[second])} is called {ids[second]}",
            page=entries[second].draft.page,
            kind="same id",
        )
        for second, first in clashes.items()
    ]
    return entries, problems


def _both(first: _Entry, second: _Entry) -> str:
    if first.draft.page != second.draft.page:
        return f"{first.draft.page} and {second.draft.page}"
    return f"lines {first.line} and {second.line}"


def _where(entry: _Entry) -> str:
    return f"in {entry.draft.page}" if entry.draft.page else f"on line {entry.line}"


def _bounds_too_deep(entries: Sequence[_Entry]) -> Iterator[Problem]:
    """What bounds a subtask holds nothing: it is done in the attempt of its task."""
    for entry in entries:
        if entry.id != entry.top and entry.details.bounds != NO_BOUNDS:
            message = f"{entry.id} is done together with {entry.top}: write its bounds below {entry.top}"
            yield Problem(line=entry.line, message=message, page=entry.draft.page, kind="bounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waits:
    """Whom an entry waits for: top-level tasks, the very items where these are others, tasks of other projects."""

    here: tuple[str, ...]
    items: tuple[str, ...]
    elsewhere: tuple[TaskElsewhere, ...]


def _dependencies(
    entries: Sequence[_Entry], drafts: Sequence[Draft], manner: Manner
) -> tuple[dict[str, _Waits], list[Problem]]:
    """Whom each entry waits for, and the references that lead nowhere."""
    references = References(
        [Named(id=one.id, title=one.title, above=one.draft.place if one.id == one.top else ()) for one in entries],
        dict(manner.projects),
    )
    required = _Prerequisites(entries, references)
    by_place = _ByPlace(entries, drafts)
    depends: dict[str, _Waits] = {}
    problems = []
    for entry in entries:
        waits_for: dict[str, None] = {}
        named: dict[str, None] = {}
        elsewhere: dict[TaskElsewhere, None] = {}
        for line, value in entry.details.depends:
            for found in references.resolve(value):
                match found:
                    case Unresolved() if before := by_place.of(found.reference, entry):
                        named.update((other.id, None) for other in before)
                        waits_for.update((other.top, None) for other in before if not _is_part_of(entry, other))
                    case Unresolved():
                        problems.append(_nobody(entry, found, line))
                    case Below():
                        members = [entries[index].top for index in found.members]
                        waits_for.update((member, None) for member in members if member != entry.top)
                        named.update((member, None) for member in members if member != entry.top)
                    case TaskElsewhere():
                        elsewhere[replace(found, line=line + 1)] = None
                    case _:
                        named[entries[found].id] = None
                        if not _is_part_of(entry, entries[found]):
                            waits_for[entries[found].top] = None
        above = required.of(entry.details.prerequisites)
        if entry.id != entry.top:
            above = tuple(top for top in above if top != entry.top)
        depends[entry.id] = _Waits(
            here=tuple(dict.fromkeys((*waits_for, *above))) if waits_for else above,
            items=tuple(dict.fromkeys((*named, *above))) if named != waits_for else (),
            elsewhere=tuple(elsewhere),
        )
    return depends, problems


def _nobody(entry: _Entry, found: Unresolved, line: int) -> Problem:
    if found.issue:
        message = f"{entry.id} names {found.reference}, which is no task here: nobody waits for it"
        return Problem(line=line + 1, message=message, page=entry.draft.page)
    message = f"{entry.id} depends on {found}"
    return Problem(line=line + 1, message=message, page=entry.draft.page, fatal=True, kind="dependency")


class _ByPlace:
    """Whom words such as `previous` mean; where tasks stand is looked up only if somebody says them."""

    def __init__(self, entries: Sequence[_Entry], drafts: Sequence[Draft]) -> None:
        self._entries = entries
        self._drafts = drafts

    def of(self, reference: str, entry: _Entry) -> list[_Entry]:
        """The entries that these words mean below another one; none for other words."""
        return [self._by_draft[id(draft)] for draft in self._earlier.named(reference, entry.draft)]

    @cached_property
    def _earlier(self) -> Earlier:
        return Earlier(self._drafts)

    @cached_property
    def _by_draft(self) -> dict[int, _Entry]:
        return {id(entry.draft): entry for entry in self._entries}


class _Prerequisites:
    """What is required above several tasks is looked up once; those below one statement do not wait for each other."""

    def __init__(self, entries: Sequence[_Entry], references: References) -> None:
        self._entries = entries
        self._references = references
        self._known: dict[tuple[tuple[int, str], ...], tuple[str, ...]] = {(): ()}

    def of(self, required: tuple[tuple[int, str], ...]) -> tuple[str, ...]:
        """The top-level tasks that are waited for by whom these statements are made of."""
        if required not in self._known:
            found = (top for stated in required for top in self._tops(stated))
            self._known[required] = tuple(dict.fromkeys(found))
        return self._known[required]

    def _tops(self, stated: tuple[int, str]) -> Iterator[str]:
        for found in self._references.known(stated[1]):
            for index in found.members if isinstance(found, Below) else (found,):
                top = self._tops_by_id[self._entries[index].top]
                if stated not in top.details.prerequisites:
                    yield top.id

    @cached_property
    def _tops_by_id(self) -> dict[str, _Entry]:
        return {entry.id: entry for entry in self._entries if entry.id == entry.top}


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
        tickable=draft.box is not None,
        awaits=depends[entry.id].items,
    )
