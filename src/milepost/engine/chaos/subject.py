"""What chaos is tried on: the user's own roadmap with recorded answers, or a sample."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import tomlkit

from milepost.agents.replay.replay import load_cassette
from milepost.core.errors import Misuse, NoRepository, RoadmapMissing, RoadmapNotCommitted
from milepost.core.own_files import SETTINGS_FILE
from milepost.core.task import Plan
from milepost.engine.chaos.copies import RepositoryCopy, commit_all, make_copy
from milepost.engine.chaos.sample import CASSETTE, ROADMAP, make_sample, task_id
from milepost.engine.planning.make_plan import manner_of, planned, planning_of
from milepost.engine.project import consent
from milepost.engine.project.project import Project, read_bytes
from milepost.engine.project.settings.load import EVERYTHING, load, require_as_agreed
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.run_request import RunRequest
from milepost.engine.run.prepare import choose, refuse_invalid

SAMPLE_TASKS = 20
REPLAY, PATTERN = "replay:", "pattern:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A repository aside of which copies are made, its roadmap, the agent that replays, and the open tasks."""

    repository: Path
    roadmap: str
    agent: str
    tasks: tuple[str, ...]
    is_sample: bool


def find_subject(roadmap: Path | None, cassette: Path | None, tasks: int | None, folder: Path) -> Subject:
    """What is meant: a sample where nothing is named and nothing here is recorded."""
    if tasks is not None and (roadmap is not None or cassette is not None):
        raise Misuse("--tasks is only for the sample, but a roadmap was named", "leave one of them out")
    named = roadmap is not None or cassette is not None
    project = _project(roadmap, named) if tasks is None else None
    if project is None:
        return _sample(tasks or SAMPLE_TASKS, folder)
    agreed = {consent.YES: os.environ.get(consent.YES, "")}
    settings = load(project.roadmap.parent, environ=agreed, uses=EVERYTHING)
    recorded = cassette or _cassette_of(project, settings)
    if recorded is None:
        if not named:
            return _sample(SAMPLE_TASKS, folder)
        raise Misuse(
            f"there is no recording to replay for {project.roadmap_in_tree}",
            "name the recorded answers: --cassette FILE; without a roadmap, a sample is used",
        )
    return _own(project, settings, recorded, folder)


def _project(roadmap: Path | None, named: bool) -> Project | None:
    try:
        return Project.find(roadmap)
    except (NoRepository, RoadmapMissing):
        if named:
            raise
        return None


def _cassette_of(project: Project, settings: Settings) -> Path | None:
    agent = settings.run.agent
    return project.roadmap.parent / agent.removeprefix(REPLAY) if agent.startswith(REPLAY) else None


def _sample(tasks: int, folder: Path) -> Subject:
    repository = folder / "sample"
    make_sample(repository, tasks)
    return Subject(
        repository=repository,
        roadmap=ROADMAP,
        agent=f"{REPLAY}{CASSETTE}",
        tasks=tuple(task_id(number) for number in range(1, tasks + 1)),
        is_sample=True,
    )


def _own(project: Project, settings: Settings, cassette: Path, folder: Path) -> Subject:
    """The user's repository as it is committed, copied once; theirs is not read again after that."""
    load_cassette(cassette)
    kept = folder / CASSETTE
    shutil.copyfile(cassette, kept)
    copy = make_copy(project.repository.top, folder / "source", project.roadmap_in_tree, apart=True)
    there = copy.repository / copy.roadmap
    _quieten(copy, there.parent / SETTINGS_FILE)
    if not there.exists():
        raise RoadmapNotCommitted(
            f"{copy.roadmap} is not committed, and chaos works on what is committed",
            f"git add {copy.roadmap} && git commit",
        )
    require_as_agreed(project.roadmap.parent, there.parent)
    plan = planned(read_bytes(there), manner_of(settings, project.roadmap), planning_of(settings))
    refuse_invalid(plan)
    tasks = choose(plan, RunRequest())
    if not tasks:
        raise Misuse(f"there is no open task in {copy.roadmap}", "chaos needs open tasks; --tasks 20 uses a sample")
    _refuse_live(plan, tasks, settings)
    return Subject(
        repository=copy.repository, roadmap=copy.roadmap, agent=f"{REPLAY}{kept}", tasks=tasks, is_sample=False
    )


def _quieten(copy: RepositoryCopy, file: Path) -> None:
    """Leave out of the copy's settings what reaches beyond it: shared workers and memory, people, telemetry."""
    if file.is_file() and (quiet := quietened(file.read_text(encoding="utf-8"))) is not None:
        file.write_text(quiet, encoding="utf-8")
        commit_all(copy, "Settings that do not reach beyond this copy")


def quietened(text: str) -> str | None:
    """The text of settings without what reaches beyond a repository; None where there is nothing of it."""
    settings = tomlkit.parse(text)
    run, memory = settings.get("run", {}), settings.get("memory", {})
    found = [(run, name) for name in ("database", "remote", "approve") if name in run]
    found += [(memory, name) for name in ("primary", "distil_with") if name in memory]
    found += [(settings, name) for name in ("telemetry",) if name in settings]
    for section, name in found:
        section.remove(name)
    return tomlkit.dumps(settings) if found else None


def _refuse_live(plan: Plan, tasks: tuple[str, ...], settings: Settings) -> None:
    """Raise when anybody but a recorded or a deterministic agent would be asked: a live one costs money each time."""
    asked = [(f"task {task_id}", plan.task(task_id).agent) for task_id in tasks]
    asked += [("[repair] fallback", name) for name in settings.repair.fallback]
    if settings.verify.mode == "agent":
        asked.append(("[verify] agent", settings.verify.agent))
    for where, name in asked:
        if name and not name.startswith((REPLAY, PATTERN)):
            raise Misuse(
                f"{where} asks for the agent {name!r}, but chaos uses only recorded agents",
                "remove it on a separate branch, or use a sample: milepost chaos --tasks 20",
            )
