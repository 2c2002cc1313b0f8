"""Replaying a run: the same order in a clone aside, without models and people, and how its trees compare.

Work lands in the order in which it landed the first time, so that each milepost has its like.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from milepost.agents.replay.replay import LOOPS, Loops
from milepost.core.errors import GitFailed, MilepostError, Misuse
from milepost.core.events import Event, MilepostMade, RunFinished
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import EVERYTHING, load
from milepost.engine.project.settings.run import TelemetrySettings
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_request import Caller
from milepost.engine.records.run_spec import Remembering, RunSpec
from milepost.engine.replay.record import recording_of
from milepost.engine.replay.recorded_agents import REVIEWER, StandIns
from milepost.engine.replay.recorded_run import Past, past_of
from milepost.engine.run import start
from milepost.store.database import Database, open_database
from milepost.verify.programs.tracked import tracked_program
from milepost.workspace.checkout import remove_folder, workers_folder
from milepost.workspace.git import neutral_environment, off_switches
from milepost.workspace.mileposts import Mileposts
from milepost.workspace.repository import Position

FOLDER = "replays"
BRANCH = "replayed"
KEEP_S = 7 * 24 * 3600.0  # of a clone in the cache that somebody may still look at
OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReplayed:
    """The tree of a task's milepost then and now, empty without one; `files` are those in which the trees differ."""

    task: str
    recorded: str
    found: str
    files: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        return self.recorded == self.found


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReplayed:
    """What came of replaying a run; `folder` is the clone, None when it is gone. `remarks`: what was not repeated."""

    run: str
    tasks: tuple[TaskReplayed, ...]
    ended: bool
    folder: Path | None = None
    remarks: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        return self.ended and all(task.same for task in self.tasks)


def replay_run(
    roadmap: Path | None,
    run: str,
    *,
    task: str = "",
    folder: Path | None = None,
    loops: Loops = LOOPS,
    on_event: OnEvent,
) -> RunReplayed:
    """Do again what a finished run did, or one task of it; the user's repository is only read.

    The clone is made in `folder`, which must be empty or absent, and stays there. Without one it is in the cache, and
    stays only where the trees differ.
    """
    project = Project.find(roadmap)
    if not project.database.exists():
        raise Misuse(f"there is no run {run!r}: no runs here yet", "start one: milepost run")
    with closing(open_database(project.database)) as database:
        past = past_of(database, run, task)
        home = _home(folder)
        replayed = None
        try:
            replayed = _replay(project, database, past, home, loops, on_event)
        finally:
            kept = folder is not None or (replayed is not None and replayed.ended and not replayed.same)
            if not kept:
                remove_folder(home)
    return replayed if kept else replace(replayed, folder=None)


def to_json(replayed: RunReplayed) -> dict[str, Any]:
    """What came of a replay, as `milepost replay --json` prints it last."""
    tasks = [{**asdict(task), "files": list(task.files), "same": task.same} for task in replayed.tasks]
    folder = None if replayed.folder is None else str(replayed.folder)
    return {
        "event": "run_replayed",
        "run": replayed.run,
        "same": replayed.same,
        "ended": replayed.ended,
        "tasks": tasks,
        "folder": folder,
        "remarks": list(replayed.remarks),
    }


def _replay(
    project: Project, database: Database, past: Past, home: Path, loops: Loops, on_event: OnEvent
) -> RunReplayed:
    there = _clone(project, past, home)
    mileposts = Mileposts(there.repository.git(home / "git"))
    recording = recording_of(database, mileposts, past.order.run)
    if lost := [name for name in recording.missing if name.split()[0] in past.order.tasks]:
        raise MilepostError(
            f"run {past.order.run} cannot be replayed: the recorded steps were deleted for {', '.join(lost)}",
            "they are kept for keep_days of [state] in milepost.toml; --task replays a task that still has them",
        )
    order = _order_again(past, project, there)
    settings = _within(project, order)
    stand_ins = StandIns(past, recording.cassette, place=there.database, loops=loops, on_event=on_event)
    caller = Caller(on_event=stand_ins.hear, agents=stand_ins.agents, stays=True)
    ending = start.run_to_end(there, settings, order, caller)
    with Journal.look(there.database) as journal:
        events = [entry.event for entry in journal.events(order.run)]
    found = {event.task: event.tree for event in events if isinstance(event, MilepostMade)}
    return RunReplayed(
        run=order.run,
        tasks=tuple(_compared(name, past.trees.get(name, ""), found.get(name, ""), mileposts) for name in order.tasks),
        ended=isinstance(ending, RunFinished),
        folder=there.repository.top,
        remarks=tuple(f"changes that a person made to the run were not repeated: {what}" for what in past.steered),
    )


def _home(folder: Path | None) -> Path:
    """An empty folder: the one that is named, or a new one in the user's cache."""
    if folder is None:
        place = workers_folder().with_name(FOLDER)
        place.mkdir(parents=True, exist_ok=True)
        for old in place.iterdir():
            if time.time() - old.stat().st_mtime > KEEP_S:
                remove_folder(old)
        return Path(tempfile.mkdtemp(dir=place))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Misuse(f"{str(folder)!r} is not empty", "name an empty folder, or leave out --folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder.absolute()


def _clone(project: Project, past: Past, home: Path) -> Project:
    """A clone that shares no file with the user's repository, at the commit from which the run is done again."""
    top = home / "repository"
    # The clone is a copy of all objects, also of those that no branch has.
    _git(
        home,
        "clone",
        "--quiet",
        "--local",
        "--no-hardlinks",
        "--no-checkout",
        "--",
        str(project.repository.top),
        str(top),
    )
    _git(top, "checkout", "--quiet", "-B", BRANCH, past.begin)
    _git(top, "remote", "remove", "origin")
    return Project.find(top / past.order.roadmap)


def _order_again(past: Past, project: Project, there: Project) -> RunSpec:
    """The order as it was, from the clone's commit, within the walls around tasks: that around the run is over.

    What is done again teaches nothing new.
    """
    order, position = past.order, there.repository.position()
    checks: dict[str, Any] = dict(order.checks)
    own = [project.repository.top / name / "bin/python" for name in (".venv", "venv")]
    if not checks.get("python"):  # the project's own environment is beside its files, and not in a clone of them
        top = project.repository.top
        usable = (path for path in own if path.exists() and not tracked_program(top, path))
        checks["python"] = next(map(str, usable), "")
    if checks.get("mode") == "agent":
        checks["agent"] = REVIEWER
    budget = replace(order.budget, usd=None, tokens=None, seconds=None, attempts=None, task_seconds=None)
    user = Position(branch=BRANCH, commit=position.commit)
    order = replace(order, checks=checks, budget=budget, memory=Remembering())
    return replace(order, base=position.commit, ahead="", user=user, held=False)


def _within(project: Project, order: RunSpec) -> Settings:
    """The settings as they are now, which tell of nothing to anybody."""
    settings = load(project.roadmap.parent, {"trust": order.trust or None}, uses=EVERYTHING)
    return settings.model_copy(update={"telemetry": TelemetrySettings()})


def _compared(task: str, recorded: str, found: str, mileposts: Mileposts) -> TaskReplayed:
    files = mileposts.changed_files(recorded, found) if recorded and found else ()
    return TaskReplayed(task=task, recorded=recorded, found=found, files=files)


def _git(folder: Path, *words: str) -> None:
    quiet = [*off_switches(), "-c", "protocol.file.allow=always"]
    env = neutral_environment() | {"GIT_LFS_SKIP_SMUDGE": "1"}
    argv = ["git", "-C", str(folder.absolute()), *quiet, *words]
    done = subprocess.run(argv, cwd="/", env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise GitFailed(f"git {words[0]} failed: {done.stderr.strip()}", "the clone was deleted: try again")
