"""What is to run on this machine for one target, and what does: two files that outlive every process.

Whoever deploys writes what is wanted; the keeper alone writes what it found and did.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from milepost.ship.local.processes import Process

WANTED, KEPT, KEEPER_LOCK = "wanted.json", "kept.json", "keeper.lock"
_PROXY = "proxy"
REMEMBERED_S = 60.0
"""Deaths that are longer ago say nothing of a program any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A process that is to run: `name` is `RELEASE.INSTANCE`, or `proxy.SIDE`. `{port}` in `argv` stands for its port.

    Values of `secrets` are read from the keeper's own variables when it is started, and written nowhere.
    """

    name: str
    argv: tuple[str, ...]
    folder: str
    log: str
    port: int = 0
    variables: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()

    @property
    def release(self) -> int | None:
        """The number of the release that it is an instance of."""
        return None if self.is_proxy else int(self.name.partition(".")[0])

    @property
    def is_proxy(self) -> bool:
        return self.name.startswith(f"{_PROXY}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """All that is to run. `port` is where users come in, `mark` what all processes of the target carry."""

    mark: str
    port: int
    programs: tuple[Program, ...] = ()

    def of(self, release: int) -> tuple[Program, ...]:
        """The instances of a release."""
        return tuple(program for program in self.programs if program.release == release)

    def without(self, *names: str) -> Wanted:
        return replace(self, programs=tuple(program for program in self.programs if program.name not in names))

    def also(self, *programs: Program) -> Wanted:
        """With these, in the place of those of the same names."""
        kept = self.without(*(program.name for program in programs)).programs
        return replace(self, programs=(*kept, *programs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A program as the keeper knows it. Written before it is started, then with its process.

    `deaths` are the moments at which it ended by itself, the newest last; `said` why it could not be started.
    """

    mark: str
    process: Process | None = None
    deaths: tuple[float, ...] = ()
    ended_with: int | None = None
    said: str = ""

    @property
    def recent_deaths(self) -> tuple[float, ...]:
        return tuple(at for at in self.deaths if time.time() - at < REMEMBERED_S)


def read_wanted(folder: Path) -> Wanted | None:
    """What is to run; None where nothing was deployed yet."""
    found = _read(folder / WANTED)
    if found is None:
        return None
    programs = tuple(
        Program(
            name=each["name"],
            argv=tuple(each["argv"]),
            folder=each["folder"],
            log=each["log"],
            port=each["port"],
            variables=tuple((name, value) for name, value in each["variables"]),
            secrets=tuple((name, source) for name, source in each["secrets"]),
        )
        for each in found["programs"]
    )
    return Wanted(mark=found["mark"], port=found["port"], programs=programs)


def write_wanted(folder: Path, wanted: Wanted) -> None:
    write(folder / WANTED, asdict(wanted))


def read_kept(folder: Path) -> dict[str, Kept]:
    """What the keeper wrote down last, by the names of the programs."""
    found = _read(folder / KEPT) or {}
    return {
        name: Kept(
            mark=each["mark"],
            process=Process(**each["process"]) if each["process"] else None,
            deaths=tuple(each["deaths"]),
            ended_with=each["ended_with"],
            said=each["said"],
        )
        for name, each in found.items()
    }


def write_kept(folder: Path, kept: dict[str, Kept]) -> None:
    write(folder / KEPT, {name: asdict(each) for name, each in kept.items()})


def write(path: Path, content: Any) -> None:
    """Write beside, then rename: whoever looks sees the one or the other."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("w", encoding="utf-8") as stream:
        json.dump(content, stream)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(path)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
