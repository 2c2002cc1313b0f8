"""The pact: what projects that are worked on together have agreed on, a copy in the state directory of each.

A pact is begun before the first run starts, and decided before the first branch moves. One decided copy is enough:
from then on every project moves, whatever the other copies say.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.engine.project.project import state_of
from milepost.engine.project.state_directory import make_state
from milepost.engine.project.state_lock import unwritable
from milepost.engine.records.values_json import dump, load
from milepost.store.kill_points import reached

FOLDER = "together"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A project of a pact. Once that is decided: the user's branch, and the run and the commit that it moves to.

    `run` is empty where there was nothing to do, `branch` where the user's HEAD is on none.
    """

    name: str
    roadmap: str
    branch: str = ""
    run: str = ""
    head: str = ""

    @property
    def folder(self) -> Path:
        """Where the project's copies of pacts are."""
        return state_of(Path(self.roadmap)) / FOLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Projects that all move, or none; with one mark, by one agent, within one budget."""

    id: str
    mark: str
    members: tuple[Member, ...]
    agent: str | None
    budget_usd: float | None
    began_at: float
    decided: bool = False

    @property
    def roadmaps(self) -> frozenset[str]:
        return frozenset(member.roadmap for member in self.members)

    @property
    def named(self) -> bool:
        """True when somebody chose the name of the mark."""
        return self.mark != f"together-{self.id}"

    @property
    def names(self) -> str:
        return ", ".join(member.name for member in self.members)


def keep(pact: Agreement) -> None:
    """Write a pact down in every project, whole in each; the first decided copy is the decision."""
    for member in pact.members:
        make_state(member.folder.parent)
        try:
            member.folder.mkdir(exist_ok=True)
            _write(member.folder / f"{pact.id}.json", json.dumps(dump(pact), indent=2))
        except OSError as error:
            raise unwritable(member.folder, error) from error
        reached(f"together/{pact.id}/{'decided' if pact.decided else 'begun'}/{member.name}")


def drop(pact: Agreement) -> None:
    """Forget a pact in every project: it is fulfilled, or was left."""
    for member in pact.members:
        with suppress(FileNotFoundError, NotADirectoryError):
            (member.folder / f"{pact.id}.json").unlink()
        reached(f"together/{pact.id}/over/{member.name}")


def open_pacts(roadmap: Path) -> tuple[Agreement, ...]:
    """The pacts that a project is in, each as the furthest of its copies says."""
    return tuple(_furthest(pact) for pact in _copies(Member(name="", roadmap=str(roadmap)).folder))


def _furthest(pact: Agreement) -> Agreement:
    copies = (_read(member.folder / f"{pact.id}.json") for member in pact.members)
    return next((copy for copy in copies if copy is not None and copy.decided), pact)


def _copies(folder: Path) -> Iterator[Agreement]:
    for path in sorted(folder.glob("*.json")):
        if (pact := _read(path)) is not None:
            yield replace(pact, id=path.stem)


def _read(path: Path) -> Agreement | None:
    """A copy of a pact; None where there is none that can be read: any other copy says the same."""
    try:
        return load(Agreement, json.loads(path.read_bytes()))
    except (OSError, ValueError):
        return None


def _write(path: Path, text: str) -> None:
    """Put a file in its place, on the disk, whole or not at all."""
    beside = path.with_suffix(".new")
    with beside.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
