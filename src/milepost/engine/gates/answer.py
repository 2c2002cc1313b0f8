"""Answering from outside of a run: what waits for a person, and which question a name means.

It works while the run goes on, while it is parked and days later: the answer is a row that the run finds.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from milepost.core.errors import GateUnknown, MilepostError, Misuse, SettingInvalid
from milepost.core.events import GateAnswer
from milepost.engine.gates.open_held import open_held
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import EVERYTHING, SERVER
from milepost.engine.project.settings.load import load as load_settings
from milepost.engine.project.state_lock import holder_of
from milepost.engine.records.gates import Gate, Gates
from milepost.engine.records.journal import Journal
from milepost.engine.records.values_json import dump
from milepost.store.database import Database, is_server, open_database

_LOOK = "milepost gates lists the open questions"


def waiting_gates(roadmap: Path | None, database: str = "") -> tuple[Gate, ...]:
    """The questions that nobody has answered, the oldest first: of unfinished runs, and about held work of all."""
    with _opened(_place(roadmap, database)) as store:
        of_unfinished = [gate for run in _unfinished(store) for gate in Gates(store).waiting(run)]
        found = (*_of_finished(roadmap, database, store), *of_unfinished)
        return tuple(sorted(found, key=lambda gate: gate.asked_at))


def answer_gate(
    roadmap: Path | None,
    name: str | None,
    answer: GateAnswer,
    text: str = "",
    *,
    digest: str = "",
    by: str = "",
    database: str = "",
) -> Gate:
    """Answer the question that `name` means: a gate, or a task with one; without a name, the only one that waits."""
    refuse_unknown_agent(roadmap, answer, text, database)
    with _opened(_place(roadmap, database)) as store:
        gates = Gates(store)
        gate = meant(_all_asked(roadmap, database, store), name)
        return gates.answer(gate.run, gate.gate, answer, text, digest=digest, by=by or person(roadmap))


def asked_gate(roadmap: Path | None, name: str | None, database: str = "") -> tuple[Gate, bool]:
    """The question that a name means, and whether its run is over, so that its answer must be acted on here."""
    with _opened(_place(roadmap, database)) as store:
        gate = meant(_all_asked(roadmap, database, store), name)
        return gate, gate.run not in _unfinished(store)


def person(roadmap: Path | None) -> str:
    """Who answers: as git knows them, else by their login."""
    try:
        named = Project.find(roadmap).repository.setting("user.name")
    except MilepostError:  # where runs of others are answered, there may be no repository
        named = ""
    return named or _user()


def _all_asked(roadmap: Path | None, database: str, store: Database) -> tuple[Gate, ...]:
    of_unfinished = (gate for run in _unfinished(store) for gate in Gates(store).asked(run))
    return (*_of_finished(roadmap, database, store), *of_unfinished)


def _of_finished(roadmap: Path | None, database: str, store: Database) -> tuple[Gate, ...]:
    """What is still asked about held work of this roadmap's runs that are over."""
    try:
        return open_held(Project.find(roadmap), Journal(store))
    except MilepostError:
        if not database:
            raise
        return ()  # whoever answers for workers need not have the repository


def running(roadmap: Path | None) -> str | None:
    """The run that a process works on here now, None where there is none."""
    holder = holder_of(Project.find(roadmap).state)
    return holder.run or None if holder is not None else None


def meant(asked: tuple[Gate, ...], name: str | None) -> Gate:
    """The gate that a name means among those of unfinished runs; one that waits goes before one that was answered."""
    waiting = [gate for gate in asked if gate.answer is None]
    if name is None:
        found = waiting
        lost = GateUnknown("no questions are waiting for you", "milepost status shows the run")
    else:
        found = _named(waiting, name) or _named([gate for gate in asked if gate.answer is not None], name)[-1:]
        lost = GateUnknown(f"there is no open question about {name!r}", _LOOK)
    if not found:
        raise lost
    if len(found) > 1:
        names = ", ".join(gate.gate for gate in found[:5])
        more = "" if len(found) <= 5 else f" and {len(found) - 5} more"
        raise Misuse(f"{len(found)} questions wait for you: {names}{more}", f"name one of them; {_LOOK}")
    return found[0]


def gate_to_json(gate: Gate) -> dict[str, Any]:
    """A gate as `milepost gates --json` prints it."""
    return dump(gate)


def _named(gates: list[Gate], name: str) -> list[Gate]:
    exact = [gate for gate in gates if name in (gate.gate, f"{gate.run}/{gate.gate}")]
    return exact or [gate for gate in gates if gate.task.lower() == name.lower()]


def _place(roadmap: Path | None, database: str) -> Path | str:
    if database and not is_server(database) and not Path(database).is_file():
        raise SettingInvalid("that is not a database address", "write it as postgresql://USER@HOST/NAME")
    if database:
        return database
    project = Project.find(roadmap)
    return load_settings(project.roadmap.parent, uses=SERVER).run.database or project.store


def _unfinished(store: Database) -> list[str]:
    return [record.run for record in reversed(Journal(store).runs()) if record.unfinished]


def refuse_unknown_agent(roadmap: Path | None, answer: GateAnswer, name: str, database: str = "") -> None:
    """Refuse to hand a task to an agent that could not be made; one that is an object is known only to the run."""
    from milepost.engine.agents.factory import make_agent

    if answer != "delegate" or is_server(_place(roadmap, database)):
        return
    folder = Project.find(roadmap).roadmap.parent
    if name.strip() and not name.startswith("object:"):
        make_agent(name.strip(), load_settings(folder, uses=EVERYTHING), folder)


@contextmanager
def _opened(place: Path | str) -> Iterator[Database]:
    """The database of a place; an empty one where nothing was written yet, and none is made."""
    store = open_database(place if is_server(place) or Path(place).exists() else ":memory:")
    try:
        yield store
    finally:
        store.close()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
