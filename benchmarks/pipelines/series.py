"""Measurements, taken one after the other in processes of their own, and what is made of them."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from places import FILE, SERVER, Places

HERE = Path(__file__).parent
ABSENT = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Something that is measured: by which probe, how many of it, on which databases.

    `place` is the database of a server of its own, else each measurement has a fresh one.
    """

    name: str
    probe: str
    what: str
    number: int = 0
    databases: tuple[str, ...] = (FILE, SERVER)
    python: str = sys.executable
    place: str = ""
    env: tuple[tuple[str, str], ...] = ()

    def of(self, number: int) -> Subject:
        return replace(self, number=number)

    def by(self, python: str, *, place: str = "", env: Mapping[str, str] | None = None) -> Subject:
        return replace(self, python=python, place=place, env=tuple((env or {}).items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What one of a number of the same took, for each measurement; or why there is none."""

    each_s: list[float] = field(default_factory=list)
    grown: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Series:
    """All that was measured so far."""

    def __init__(self, places: Places, patience_s: float) -> None:
        self._places, self._patience_s = places, patience_s
        self._taken: dict[tuple[str, int, str], Taken] = {}

    def measure(self, rows: Iterable[Subject]) -> None:
        """Measure each row once on each of its databases; what failed before is not tried again."""
        for row in rows:
            for database in row.databases:
                if database in self._places.databases and not self._of(row, database).problems:
                    self._measure(row, database)

    def median_ms(self, row: Subject, database: str) -> float | None:
        taken = self._of(row, database)
        return statistics.median(taken.each_s) * 1000 if taken.each_s else None

    def shown_ms(self, row: Subject, database: str) -> str:
        middle = self.median_ms(row, database)
        return ABSENT if middle is None else f"{middle:.2f}"

    def shown_bytes(self, row: Subject, database: str) -> str:
        taken = self._of(row, database)
        return f"{statistics.median(taken.grown):,.0f}" if any(taken.grown) else ABSENT

    def ratio(self, row: Subject, to: Subject, database: str) -> str:
        ours, theirs = self._of(row, database).each_s, self._of(to, database).each_s
        return f"{statistics.median(ours) / statistics.median(theirs):.2f}" if ours and theirs else ABSENT

    def missing(self) -> list[str]:
        """A line for each measurement that could not be taken."""
        return [
            f"{name}, {number:,} on {database}: not measured, {taken.problems[0]}"
            for (name, number, database), taken in self._taken.items()
            if taken.problems
        ]

    def _of(self, row: Subject, database: str) -> Taken:
        return self._taken.setdefault((row.name, row.number, database), Taken())

    def _measure(self, row: Subject, database: str) -> None:
        taken = self._of(row, database)
        with self._places.fresh(database) as place:
            words = [row.python, str(HERE / row.probe), row.what, row.place or place, str(row.number)]
            try:
                env = {**os.environ, "PYTHONPATH": str(HERE.parent), **dict(row.env)}
                done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=self._patience_s)
            except subprocess.TimeoutExpired:
                taken.problems.append(f"it took over {self._patience_s:g} s")
                return
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            taken.problems.append(f"exit {done.returncode}: {last[:200]}")
            return
        try:
            told = json.loads(done.stdout.strip().splitlines()[-1])
            each_s, grown = float(told["each_s"]), float(told["bytes"])
        except (IndexError, KeyError, TypeError, ValueError):
            taken.problems.append(f"its answer cannot be read: {done.stdout[-100:]!r}")
            return
        taken.each_s.append(each_s)
        taken.grown.append(grown)
