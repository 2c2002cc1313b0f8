"""Places in the history by the names that people use: a task, one of its attempts, a mark, a commit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from milepost.core.attempt import Attempt
from milepost.core.errors import PlaceUnknown
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import SERVER
from milepost.engine.project.settings.load import load as load_settings
from milepost.engine.records.journal import Journal
from milepost.engine.views.log import milepost_of
from milepost.workspace.mileposts import Mileposts, attempt_ref

MARKS = "refs/milepost-marks"

_ATTEMPT = re.compile(r"(?P<task>.+)#(?:(?P<run>[0-9a-f]{4,})/)?(?P<number>[1-9][0-9]{0,5})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A commit under a name, and the one that it is compared with; empty for the first commit of a history."""

    name: str
    kind: Literal["milepost", "attempt", "mark", "commit"]
    commit: str
    before: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRevision:
    """An attempt, the run that it was made in, and the task as that run knew it."""

    run: str
    task: str
    attempt: Attempt

    @property
    def ref(self) -> str:
        return attempt_ref(self.run, self.task, self.attempt.number)


@contextmanager
def mileposts_of(project: Project) -> Iterator[Mileposts]:
    """The mileposts of a project for whoever only looks, or moves a ref that no run moves."""
    with TemporaryDirectory() as own:
        yield Mileposts(project.repository.git(Path(own)))


def find_place(project: Project, mileposts: Mileposts, name: str) -> Revision:
    """The place that a name means: a task's milepost before an attempt, a mark, a commit."""
    _, post = milepost_of(project, mileposts, name)
    if post is not None:
        return Revision(name=post.task, kind="milepost", commit=post.commit, before=_before(mileposts, post.commit))
    if (named := _ATTEMPT.fullmatch(name)) is not None:
        return _attempt(project, mileposts, named["task"], (named["run"] or "").lower(), int(named["number"]))
    ways: tuple[tuple[Literal["mark", "commit"], str], ...] = (("mark", f"{MARKS}/{name}"), ("commit", name))
    for kind, ref in ways:
        if (commit := _resolve(project, mileposts, ref)) is not None:
            return Revision(name=name, kind=kind, commit=commit, before=_before(mileposts, commit))
    if attempts_of(project, name):
        raise PlaceUnknown(
            f"{name} has no milepost", f"name an attempt at it, such as {name}#1: milepost attempts {name} lists them"
        )
    raise PlaceUnknown(
        f"there is no milepost, attempt, mark or commit {name!r}", "milepost log and milepost marks list the names"
    )


def attempts_of(project: Project, task: str) -> tuple[AttemptRevision, ...]:
    """Every attempt at a task in every run of this roadmap, oldest run first."""
    shared = load_settings(project.roadmap.parent, uses=SERVER).run.database
    found: dict[tuple[str, int], AttemptRevision] = {}
    for place in (project.database, *((shared,) if shared else ())):
        with Journal.look(place) as journal:
            for record in reversed(journal.runs()):
                if record.order.get("roadmap") != project.roadmap_in_tree:
                    continue
                known = next((name for name in record.order["tasks"] if name.lower() == task.lower()), task)
                for attempt in journal.attempts(record.run, task):
                    found[record.run, attempt.number] = AttemptRevision(run=record.run, task=known, attempt=attempt)
    return tuple(found.values())


def _attempt(project: Project, mileposts: Mileposts, task: str, run: str, number: int) -> Revision:
    attempts = attempts_of(project, task)
    within = run or (attempts[-1].run if attempts else "")
    found = next((one for one in attempts if (one.run, one.attempt.number) == (within, number)), None)
    name = f"{task}#{run}/{number}" if run else f"{task}#{number}"
    look = f"milepost attempts {task} lists what was tried" if attempts else "milepost plan lists the tasks"
    if found is None:
        raise PlaceUnknown(f"there is no attempt {name}", look)
    if mileposts.resolve(found.attempt.commit) is None:
        raise PlaceUnknown(
            f"the files of attempt {name} no longer exist here",
            "milepost clean deleted them, or the attempt was made on another machine",
        )
    return Revision(name=name, kind="attempt", commit=found.attempt.commit, before=found.attempt.base)


def _resolve(project: Project, mileposts: Mileposts, name: str) -> str | None:
    if name.startswith("-") or any(sign.isspace() or not sign.isprintable() for sign in name):
        return None
    if name == "HEAD" or name.startswith(("HEAD~", "HEAD^")):  # as the user's own tree has it
        name = project.repository.position().commit + name.removeprefix("HEAD")
    return mileposts.resolve(name)


def _before(mileposts: Mileposts, commit: str) -> str:
    return next(iter(mileposts.parents_of(commit)), "")
