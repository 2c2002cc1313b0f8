"""Whom each task waits for: what its lines name, as tasks here, parts of them, or tasks of other projects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from milepost.core.task import Problem, TaskElsewhere
from milepost.roadmap.reading.drafts import Draft
from milepost.roadmap.reading.entries import TaskEntry
from milepost.roadmap.reading.options import Manner
from milepost.roadmap.reading.positional import Earlier
from milepost.roadmap.reading.references import Below, Named, References, Unresolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Whom an entry waits for: top-level tasks, the very items where these are others, tasks of other projects."""

    here: tuple[str, ...]
    items: tuple[str, ...]
    elsewhere: tuple[TaskElsewhere, ...]


def dependencies(
    entries: Sequence[TaskEntry], drafts: Sequence[Draft], manner: Manner
) -> tuple[dict[str, Waits], list[Problem]]:
    """Whom each entry waits for, and the references that lead nowhere."""
    references = References(
        [Named(id=one.id, title=one.title, above=one.draft.place if one.id == one.top else ()) for one in entries],
        dict(manner.projects),
    )
    required = _Prerequisites(entries, references)
    by_place = _ByPlace(entries, drafts)
    depends: dict[str, Waits] = {}
    problems: list[Problem] = []
    for entry in entries:
        stated = _Stated(entry)
        for line, value in entry.details.depends:
            for found in references.resolve(value):
                before = by_place.of(found.reference, entry) if isinstance(found, Unresolved) else []
                if isinstance(found, Unresolved) and not before:
                    problems.append(_nobody(entry, found, line))
                else:
                    stated.add(found, before, line, entries)
        depends[entry.id] = stated.waits(required.of(entry.details.prerequisites))
    return depends, problems


@dataclass(frozen=True, slots=True)
class _Stated:
    """What the lines of one entry name: the tops that it waits for, the very items, tasks elsewhere; each once."""

    entry: TaskEntry
    tops: dict[str, None] = field(default_factory=dict)
    items: dict[str, None] = field(default_factory=dict)
    elsewhere: dict[TaskElsewhere, None] = field(default_factory=dict)

    def add(
        self,
        found: int | Below | TaskElsewhere | Unresolved,
        before: Sequence[TaskEntry],
        line: int,
        entries: Sequence[TaskEntry],
    ) -> None:
        """Take what a reference leads to; `before` are those that words such as `previous` mean."""
        match found:
            case TaskElsewhere():
                self.elsewhere[replace(found, line=line + 1)] = None
            case Below():
                members = [entries[index].top for index in found.members]
                others = [(member, None) for member in members if member != self.entry.top]
                self.tops.update(others)
                self.items.update(others)
            case Unresolved():
                self._take(before)
            case _:
                self._take([entries[found]])

    def waits(self, above: tuple[str, ...]) -> Waits:
        """All of it, with the tops that what stands above requires."""
        if self.entry.id != self.entry.top:
            above = tuple(top for top in above if top != self.entry.top)
        return Waits(
            here=tuple(dict.fromkeys((*self.tops, *above))),
            items=tuple(dict.fromkeys((*self.items, *above))) if self.items != self.tops else (),
            elsewhere=tuple(self.elsewhere),
        )

    def _take(self, others: Sequence[TaskEntry]) -> None:
        self.items.update((other.id, None) for other in others)
        self.tops.update((other.top, None) for other in others if not _is_part_of(self.entry, other))


def _nobody(entry: TaskEntry, found: Unresolved, line: int) -> Problem:
    if found.issue:
        message = f"{entry.id} names {found.reference}, which is not a task here: it is not a dependency"
        return Problem(line=line + 1, message=message, page=entry.draft.page)
    message = f"{entry.id} depends on {found}"
    return Problem(line=line + 1, message=message, page=entry.draft.page, fatal=True, kind="dependency")


class _ByPlace:
    """Whom words such as `previous` mean; where tasks stand is looked up only if somebody says them."""

    def __init__(self, entries: Sequence[TaskEntry], drafts: Sequence[Draft]) -> None:
        self._entries = entries
        self._drafts = drafts

    def of(self, reference: str, entry: TaskEntry) -> list[TaskEntry]:
        """The entries that these words mean below another one; none for other words."""
        return [self._by_draft[id(draft)] for draft in self._earlier.named(reference, entry.draft)]

    @cached_property
    def _earlier(self) -> Earlier:
        return Earlier(self._drafts)

    @cached_property
    def _by_draft(self) -> dict[int, TaskEntry]:
        return {id(entry.draft): entry for entry in self._entries}


class _Prerequisites:
    """What is required above several tasks is looked up once; those below one statement do not wait for each other."""

    def __init__(self, entries: Sequence[TaskEntry], references: References) -> None:
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
    def _tops_by_id(self) -> dict[str, TaskEntry]:
        return {entry.id: entry for entry in self._entries if entry.id == entry.top}


def _is_part_of(entry: TaskEntry, other: TaskEntry) -> bool:
    """Whether both are done in one attempt anyway; a task that names itself is a cycle, and stays one."""
    return entry.top == other.top and not (entry.id == other.id == entry.top)
