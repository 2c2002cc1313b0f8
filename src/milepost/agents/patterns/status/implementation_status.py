"""The pattern implementation_status: what of a roadmap is planned, stubbed, implemented or verified, from evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.inputs import inputs_schema, problems_in, values_in
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.status.table import json_text, markdown
from milepost.core.task import Roadmap, Task
from milepost.sandbox.confined import PathRefused

Stage = Literal["planned", "stubbed", "implemented", "verified"]
ReadRoadmap = Callable[[bytes], Roadmap]
StubsOf = Callable[[str, str], Iterable[tuple[str, int]]]

STAGES: tuple[Stage, ...] = ("planned", "stubbed", "implemented", "verified")

_INTRO = (
    "`verified` has a milepost in the history, which was not taken back; `implemented` has its files, or a ticked box, "
    "and no milepost; `stubbed` has files in which something is left to be done; `planned` has none of these."
)
_FIELD = "\x1f"
_TRAILERS = ("Task", "Verdict", "Roadmap", "Undo")
_LOG = "--format=" + _FIELD.join(
    ("%H", *(f"%(trailers:key=Milepost-{name},valueonly,separator=%x20)" for name in _TRAILERS), "%b")
)
_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{40,64})", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """How far a task is, and what shows it."""

    task: Task
    stage: Stage
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplementationStatus:
    """Reads a roadmap with `read_roadmap` and finds stubs with `stubs_of`: those that runs use themselves."""

    read_roadmap: ReadRoadmap | None = None
    stubs_of: StubsOf | None = None

    @property
    def name(self) -> str:
        return "implementation_status"

    @property
    def schema(self) -> Schema:
        return inputs_schema(
            "Write a page that shows which tasks are planned, stubbed, implemented or verified, from evidence.",
            {
                "roadmap": {"type": "string", "minLength": 1, "default": "ROADMAP.md"},
                "page": {"type": "string", "minLength": 1, "default": "docs/status.md", "description": "the table"},
                "json": {"type": "string", "minLength": 1, "default": "docs/status.json"},
            },
        )

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        return problems_in(self.schema, inputs)

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        if self.read_roadmap is None or self.stubs_of is None:
            raise PathRefused("roadmaps cannot be read here")
        values = values_in(self.schema, inputs)
        roadmap = self.read_roadmap(site.read(values["roadmap"]))
        mileposts = verified_in(_history(site), values["roadmap"])
        files = site.paths()
        stubs = {path: _stubs(self.stubs_of, path, site) for path in _named(roadmap.tasks, files)}
        found = [standing(task, mileposts, files, stubs) for task in roadmap.tasks]
        rows = [(each.task.id, each.task.title, each.stage, each.evidence) for each in found]
        site.write(values["page"], markdown("Status", _INTRO, ("task", "title", "status", "evidence"), rows))
        site.write(values["json"], json_text(_to_json(found)))
        counts = Counter(each.stage for each in found)
        site.say(", ".join(f"{counts[stage]} {stage}" for stage in STAGES))


def standing(
    task: Task, mileposts: Mapping[str, str], files: tuple[str, ...], stubs: Mapping[str, tuple[str, ...]]
) -> TaskProgress:
    """How far a task is: its milepost counts more than its box, and that more than its files."""
    if task.id in mileposts:
        return TaskProgress(task=task, stage="verified", evidence=f"milepost {mileposts[task.id][:12]}")
    wanted = [entry for part in task.walk() for entry in part.files]
    there = [path for entry in wanted for path in files if _is(path, entry)]
    left = [f"{path}: {stub}" for path in dict.fromkeys(there) for stub in stubs.get(path, ())]
    if left:
        return TaskProgress(task=task, stage="stubbed", evidence="; ".join(left[:3]) + (" …" if len(left) > 3 else ""))
    if wanted and all(any(_is(path, entry) for path in files) for entry in wanted):
        return TaskProgress(task=task, stage="implemented", evidence=f"{', '.join(dict.fromkeys(there))}; no milepost")
    if task.status == "done":
        return TaskProgress(task=task, stage="implemented", evidence="its box is ticked; no milepost")
    return TaskProgress(task=task, stage="planned", evidence="")


def verified_in(log: str, roadmap: str) -> dict[str, str]:
    """The commit that verified each task of a roadmap, from a log with the newest first.

    One that was taken back, by an undo or by git's own revert, does not count.
    """
    found: dict[str, str] = {}
    undone: set[str] = set()
    for record in filter(None, log.split("\0")):
        commit, task, verdict, of, undo, body = record.split(_FIELD, len(_TRAILERS) + 1)
        undone.update((*undo.split(), *_REVERTS.findall(body)))
        if task and verdict == "passed" and of == roadmap and commit not in undone:
            found.setdefault(task, commit)
    return found


def _history(site: PendingChanges) -> str:
    done = site.ask("git", "log", "-z", _LOG)
    if not done.succeeded:
        raise PathRefused(f"the history cannot be read: {done.stderr.strip() or done.error}")
    return done.stdout


def _named(tasks: tuple[Task, ...], files: tuple[str, ...]) -> tuple[str, ...]:
    entries = [entry for task in tasks for part in task.walk() for entry in part.files]
    return tuple(path for path in files if any(_is(path, entry) for entry in entries))


def _is(path: str, entry: str) -> bool:
    plain = entry.strip().removeprefix("./").rstrip("/")
    return bool(plain) and (path == plain or path.startswith(f"{plain}/") or fnmatchcase(path, plain))


def _stubs(stubs_of: StubsOf, path: str, site: PendingChanges) -> tuple[str, ...]:
    try:
        return tuple(f"{what} (line {line})" for what, line in stubs_of(path, site.text(path)))
    except PathRefused:  # no text, so nothing that could be read in it
        return ()


def _to_json(found: list[TaskProgress]) -> dict[str, object]:
    counts = Counter(each.stage for each in found)
    return {
        "counts": {stage: counts[stage] for stage in STAGES},
        "tasks": [
            {"id": each.task.id, "title": each.task.title, "status": each.stage, "evidence": each.evidence}
            for each in found
        ],
    }
