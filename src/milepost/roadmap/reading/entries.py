"""The drafts of a roadmap with an id for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milepost.core.task import Problem
from milepost.roadmap.reading.drafts import Draft
from milepost.roadmap.reading.ids import Claim, derived_id, settle
from milepost.roadmap.reading.task_lines import Details


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEntry:
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


def entries_of(drafts: Sequence[Draft]) -> tuple[list[TaskEntry], list[Problem]]:
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
    entries = [TaskEntry(draft=draft, id=own[id(draft)], top=own[id(top)]) for draft, top in everyone]
    problems = [
        Problem(
            line=entries[second].line,
            message=f"{_both(entries[first], entries[second])} both have the id {claims[second].id}: "
            f"the one {_where(entries[second])} gets the id {ids[second]}",
            page=entries[second].draft.page,
            kind="same id",
        )
        for second, first in clashes.items()
    ]
    return entries, problems


def _both(first: TaskEntry, second: TaskEntry) -> str:
    if first.draft.page != second.draft.page:
        return f"{first.draft.page} and {second.draft.page}"
    return f"lines {first.line} and {second.line}"


def _where(entry: TaskEntry) -> str:
    return f"in {entry.draft.page}" if entry.draft.page else f"on line {entry.line}"
