"""Lives of processes that write a memory, each ended by kill -9: after a call, or between two moments of telling."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal

from milepost.core.memories import Assessment, EpisodeEnd, EpisodeStart, EpisodeStep, Lesson, Showing, Vote
from milepost.core.verdict import Verdict
from milepost.memory.memory import StoredMemory
from milepost.memory.store.schema import KEYS
from milepost.memory.sync.background import Background, Pace
from milepost.memory.sync.primary import Primary, open_primary
from milepost.memory.sync.sync_state import Notes
from milepost.memory.sync.synchroniser import Synchroniser
from milepost.memory.sync.tables import COLUMNS
from milepost.store.connection_timeout import Patience
from milepost.store.database import open_database
from milepost.store.rows import Row, Statement

Moment = Literal["call", "commit", "never"]

# Processes are forked off one that has everything imported: a life begins in milliseconds.
LIVES = multiprocessing.get_context("forkserver")
LIVES.set_forkserver_preload([__name__])

QUICK = Pace(push_s=0.02, pull_s=0.2, end_s=1.0)
IMPATIENT = Patience(connect_s=2.0, answer_s=2.0)
END = EpisodeEnd(kind="success", ended_at=20.0, verdict=Verdict.PASSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a memory is, where its primary is, and the file that is told what was acknowledged."""

    home: str
    primary: str
    told: Path

    def acknowledge(self, *words: object) -> None:
        descriptor = os.open(self.told, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, (" ".join(map(str, words)) + "\n").encode())
        os.close(descriptor)

    def acknowledged(self) -> list[list[str]]:
        return [line.split() for line in self.told.read_text().splitlines()] if self.told.exists() else []


class Deadly:
    """A primary after whose commit the process dies, with the chance that it is given: what it told is still noted."""

    def __init__(self, primary: Primary, chance: float) -> None:
        self._primary = primary
        self._chance = chance

    def script(self, sql: str) -> None:
        self._primary.script(sql)

    def apply(self, wanted: Sequence[Statement]) -> None:
        self._primary.apply(wanted)
        tells = any(sql.startswith("insert") and "memory_primary" not in sql for sql, _ in wanted[:1])
        if tells and random.random() < self._chance:
            os.kill(os.getpid(), signal.SIGKILL)

    def read(self, sql: str, *values: object) -> list[Row]:
        return self._primary.read(sql, *values)

    def close(self) -> None:
        self._primary.close()


def calls(name: str) -> list[tuple[tuple[object, ...], Callable[[StoredMemory], object]]]:
    """All calls of an episode's life in their order, with what is acknowledged after each."""
    lesson = Lesson(id=f"l-{name}", kind="usage", project="p", subject=name, text="`mint()`", made_at=1.0)
    start = EpisodeStart(id=name, project="p", title="Parse hours", started_at=1.5)
    return [
        (("memory_episodes", name), lambda memory: memory.journal.start(start)),
        (("memory_steps", name, 1), lambda memory: memory.journal.log(name, EpisodeStep(tool="shell", action="a"))),
        (("memory_steps", name, 2), lambda memory: memory.journal.log(name, EpisodeStep(tool="shell", action="b"))),
        (("memory_endings", name), lambda memory: memory.journal.complete(name, END, Assessment())),
        (("memory_lessons", lesson.id), lambda memory: memory.lessons.keep(lesson, [name])),
        (
            ("memory_showings", lesson.id, name),
            lambda memory: memory.lessons.show([Showing(lesson=lesson.id, episode=name, arm="shown")]),
        ),
        (
            ("memory_votes", lesson.id, name),
            lambda memory: memory.lessons.vote([Vote(lesson=lesson.id, episode=name, effect="helped")]),
        ),
    ]


def one_call(places: Places, name: str, number: int, dies_after: Moment) -> None:
    """Make one call of a life, tell the primary, and die at the moment that is asked for."""
    with closing(open_database(places.home)) as database:
        memory = StoredMemory(database, shared=True)
        row, call = calls(name)[number]
        call(memory)
        places.acknowledge(*row)
        if dies_after == "call":
            os.kill(os.getpid(), signal.SIGKILL)
        primary = open_primary(places.primary, patience=IMPATIENT)
        Synchroniser(database, Deadly(primary, 1.0 if dies_after == "commit" else 0.0)).push()


def write_on(places: Places, seed: int) -> None:
    """Write episodes until killed, while they are told in the background; sometimes die after the primary's commit."""
    random.seed(seed)
    with closing(open_database(places.home)) as database:
        memory = StoredMemory(database, shared=True)
        primary = Deadly(open_primary(places.primary, patience=IMPATIENT), 0.05)
        background = Background(Synchroniser(database, primary), Notes(database), QUICK)
        background.start()
        for number in range(1_000_000):
            for row, call in calls(f"e{seed}-{os.getpid()}-{number}"):
                call(memory)
                places.acknowledge(*row)


def life(target: Callable[..., None], *words: object) -> BaseProcess:
    """A process that has begun."""
    process = LIVES.Process(target=target, args=words, daemon=True)
    process.start()
    return process


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What was acknowledged, and what there is of it."""

    acknowledged: int
    rows: int
    lost_here: int
    lost_there: int
    doubled: int
    differing: int


def compare(places: Places) -> Comparison:
    """Hold the rows of a memory against those of its primary, and both against what was acknowledged."""
    primary = open_primary(places.primary)
    with closing(open_database(places.home)) as database, closing(primary):
        here = {table: _rows(database.read, table) for table in KEYS}
        there = {table: _rows(primary.read, table) for table in KEYS}
    wanted = {(table, tuple(map(str, key))) for table, *key in places.acknowledged()}
    mine = {(table, key) for table in KEYS for key, _ in here[table]}
    others = {(table, key) for table in KEYS for key, _ in there[table]}
    return Comparison(
        acknowledged=len(places.acknowledged()),
        rows=sum(map(len, there.values())),
        lost_here=len(wanted - mine),
        lost_there=len((wanted | mine) - others),
        doubled=sum(len(rows) - len({key for key, _ in rows}) for rows in there.values())
        + (len(places.acknowledged()) - len(wanted)),
        differing=sum(len(set(here[table]) ^ set(there[table])) for table in KEYS),
    )


def _rows(read: Callable[..., list[Any]], table: str) -> list[tuple[tuple[str, ...], tuple[Any, ...]]]:
    names = tuple(COLUMNS[table])
    keys = [names.index(name) for name in KEYS[table]]
    sql = f"select {', '.join(names)} from {table} where rowid > ? order by rowid limit 2000"
    found: list[Any] = []
    last = 0
    while page := read(sql.replace("select ", "select rowid, ", 1), last):
        found += [(tuple(str(row[1:][at]) for at in keys), tuple(row[1:])) for row in page]
        last = page[-1][0]
    return found
