"""Synchronising beside a run: it never delays the run, nor breaks it; what goes wrong is told by the status."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from milepost.core.errors import DatabaseAway, DatabaseRefuses
from milepost.memory.sync.breaker import OPEN_S, pause_s
from milepost.memory.sync.primary import open_primary
from milepost.memory.sync.status import SyncStatus
from milepost.memory.sync.sync_state import Notes
from milepost.memory.sync.synchroniser import Synchroniser
from milepost.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often own rows are told and those of others are asked for, and how long the last try may take."""

    push_s: float = 2.0
    pull_s: float = 60.0
    end_s: float = 3.0


PACE = Pace()


class Background:
    """A thread that synchronises every now and then, from `start` to `finish`."""

    def __init__(self, synchroniser: Synchroniser, notes: Notes, pace: Pace = PACE) -> None:
        self._synchroniser = synchroniser
        self._notes = notes
        self._pace = pace
        self._ending, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory", daemon=True)
        self._pull_at = 0.0

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Have a last try, waited for no longer than the pace says; what is not told then waits for the next run."""
        self._ending.set()
        self._thread.join(self._pace.end_s)
        self._over.set()

    def status(self) -> SyncStatus:
        return self._synchroniser.status()

    def _run(self) -> None:
        try:
            while not self._ending.is_set():
                self._ending.wait(self._round(self._ending))
            self._pull_at = float("inf")
            self._round(self._over)
        finally:
            self._synchroniser.close()

    def _round(self, ending: threading.Event) -> float:
        """Synchronise once; gives how long to wait then."""
        try:
            self._synchroniser.push(ending.is_set)
            if time.monotonic() >= self._pull_at:
                self._synchroniser.pull(ending.is_set)
                self._pull_at = time.monotonic() + self._pace.pull_s
        except (DatabaseAway, DatabaseRefuses):
            breaker = self._synchroniser.breaker
            return max(breaker.left_s(time.monotonic()), pause_s(breaker.failures, random.random()))  # noqa: S311
        except Exception as error:  # nothing that goes wrong here may end a run
            self._note(error)
            return OPEN_S
        return self._pace.push_s

    def _note(self, error: Exception) -> None:
        try:
            self._notes.failed(f"{type(error).__name__}: {error}"[:500], time.time())
        except Exception:
            return  # the database itself is what fails: whoever else uses it says so


@contextmanager
def synchronising(database: Database, place: str, token: str = "", pace: Pace = PACE) -> Iterator[Background]:
    """Keep a memory and its primary up to date while the block runs.

    SettingInvalid when the address is none. The primary itself is first asked in the background.
    """
    synchroniser = Synchroniser(database, open_primary(place, token))
    background = Background(synchroniser, Notes(database), pace)
    background.start()
    try:
        yield background
    finally:
        background.finish()
