"""The no-op pipeline that every engine is measured with: five steps a task, each with a small result.

A probe is a program `with_….py WHAT PLACE NUMBER` that does so many tasks, one after the other, or so many steps of
one long task, and prints what one of them took. It runs in a process of its own, and starting that is not counted.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing

PAGES = ("page_count", "freelist_count", "page_size")
STEPS = ("plan", "act", "verify", "repair", "land")


def result_of(task: int, step: str) -> dict[str, str | int]:
    """What a step gives: some 130 bytes, as a step gives that says what it made and not what is in it."""
    return {"task": task, "step": step, "commit": "4f2c" * 10, "tree": "9b1e" * 10, "verdict": "passed"}


def asked() -> tuple[str, str, int]:
    """What is measured, on which database, how many."""
    what, place, number = sys.argv[1:]
    return what, place, int(number)


class Probe:
    """Measures a number of the same; the database is looked at before and after, out of the time."""

    def __init__(self, place: str, number: int) -> None:
        self._place, self._number = place, number

    def measure(self, act: Callable[[], object]) -> None:
        """Do it, and print what one of them took."""
        before, started = stored(self._place), time.perf_counter()
        act()
        self.tell(time.perf_counter() - started, stored(self._place) - before)

    def tell(self, seconds: float, grown: int) -> None:
        print(json.dumps({"each_s": seconds / self._number, "bytes": grown / self._number}))


def stored(place: str) -> int:
    """The bytes that a database takes, what is not checkpointed yet included."""
    if place.startswith("postgresql:"):
        import psycopg

        with psycopg.connect(place) as server:
            row = server.execute("select pg_database_size(current_database())").fetchone()
            return int(row[0]) if row else 0
    if not place:
        return 0
    with closing(sqlite3.connect(place, timeout=30)) as file:
        pages, free, size = (file.execute(f"pragma {name}").fetchone()[0] for name in PAGES)
        return int((pages - free) * size)
