"""A scratch repository with the engine's own rooms in it, wired as a run wires them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from measuring import make_repo

from milepost.core.ports import Agent
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import load
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_request import Caller, NothingToDo, RunRequest
from milepost.engine.records.run_spec import VERSION, RunSpec
from milepost.engine.records.values_json import dump
from milepost.engine.run import prepare
from milepost.engine.run.start import flags_of
from milepost.engine.run.wiring import open_rooms
from milepost.engine.services import RunServices

FILES = 200
AGENT = "bench"
BUDGET_USD = 1_000.0  # so that every call is held against a wall


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """A run that could begin; `place` is where its rows are kept."""

    here: RunServices
    order: RunSpec
    place: str


@contextmanager
def opened(server: str, agent: Agent) -> Iterator[Scratch]:
    """The rooms of a new run in a repository of its own, on a server or, without one, in a file."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        project = replace(Project.find(repo_of_some_size(Path(folder, "repo"))), server=server)
        wish, agents = RunRequest(agent=AGENT, budget_usd=BUDGET_USD), {AGENT: agent}
        settings = load(project.roadmap.parent, flags_of(wish))
        drafted = prepare.draft(project, settings, wish, agents)
        assert not isinstance(drafted, NothingToDo), drafted
        with project.lock() as lock:
            with Journal(project.store) as journal:
                order = prepare.order(project, settings, drafted, journal)
                assert not isinstance(order, NothingToDo), order
                journal.open_run(order.run, VERSION, dump(order))
            caller = Caller(on_event=lambda _: None, agents=agents)
            with open_rooms(project, settings, order, lock.fd, caller) as here:
                here.books.steering.begin()
                yield Scratch(here=here, order=order, place=str(project.store))


def repo_of_some_size(folder: Path) -> Path:
    """A repository of some size, with a roadmap of one task."""
    files = {f"file-{number}.txt": f"{number}\n" * 50 for number in range(FILES)}
    return make_repo(folder, {**files, "ROADMAP.md": "# Roadmap\n\n- [ ] T1 Task\n  - Verify: true\n"})
