"""The keeper of a local target: runs what is wanted, starts again what died, ends what is wanted no longer.

    python -m milepost.ship.local.keeper FOLDER

It is the only one that starts and ends processes there, and may die at any time: what it started goes on, and the next
keeper finds it by its mark. An intention is written before a process is started, so that nothing runs unknown.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.ship.local.envoy_config import SIDES, failed_log
from milepost.ship.local.processes import MARK, Process, born, carrying, leader_of, mark_of, tell
from milepost.ship.local.wanted import (
    KEEPER_LOCK,
    REMEMBERED_S,
    Kept,
    Program,
    Wanted,
    read_kept,
    read_wanted,
    write_kept,
)

LOOK_S = 0.1
SCAN_S = 5.0
GRACE_S = 10.0
LARGEST_LOG = 10_000_000
LARGEST_FAILED = 1_000_000
_LONGEST_PAUSE_S = 10.0
# What a program gets of the variables of whoever deployed; the rest is named by its settings.
_PASSED = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR")


@dataclass(frozen=True, slots=True)
class StartProcess:
    program: Program


@dataclass(frozen=True, slots=True)
class EndProcess:
    mark: str


Act = StartProcess | EndProcess


def decide(
    wanted: Wanted, kept: Mapping[str, Kept], alive: Mapping[str, bool], running: Sequence[str], now: float
) -> list[Act]:
    """What is to be done next. `running` are all marks that are carried on this machine below the target's own."""
    programs = {program.name: program for program in wanted.programs}
    right = {kept[name].mark for name in programs if name in kept}
    ends: list[Act] = [EndProcess(mark) for mark in dict.fromkeys(running) if mark not in right]
    starts: list[Act] = [
        StartProcess(program)
        for name, program in programs.items()
        if not alive.get(name) and (name not in kept or now >= start_again_at(kept[name]))
    ]
    return ends + starts


def start_again_at(kept: Kept) -> float:
    """When a program that ended may be started again: at once, then after longer and longer pauses."""
    if not kept.deaths:
        return 0.0
    pause = 0.0 if len(kept.deaths) == 1 else min(0.25 * 2 ** len(kept.deaths), _LONGEST_PAUSE_S)
    return kept.deaths[-1] + pause


def after_death(kept: Kept, now: float, code: int | None, said: str = "") -> Kept:
    """A program that ended; deaths of long ago are forgotten."""
    recent = tuple(at for at in kept.deaths if now - at < REMEMBERED_S)
    return replace(kept, process=None, deaths=(*recent, now), ended_with=code, said=said)


def variables_of(program: Program, mark: str, own: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a program; raises KeyError with the name of a variable that is not set here."""
    found = {name: own[name] for name in _PASSED if name in own}
    found |= {"HOST": "127.0.0.1", "PORT": str(program.port)} if program.port else {}
    found |= dict(program.variables)
    found |= {name: own[source] for name, source in program.secrets}
    return found | {MARK: mark}


class Keeper:
    """Keeps one folder's programs."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        self._environ = environ
        self._kept = read_kept(folder)
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._ending: dict[str, float] = {}
        self._scanned: tuple[float, Wanted | None] = (0.0, None)
        self._running: list[str] = []
        self._adopt()

    def turn(self) -> bool:
        """Look once and do what follows; False when nothing is wanted and nothing runs."""
        wanted = read_wanted(self._folder)
        if wanted is None:
            return False
        before = dict(self._kept)
        now = time.time()
        alive = {name: self._is_alive(name, now) for name in list(self._kept)}
        if self._kept != before:
            self._write()
        running = self._marks(wanted, fresh=self._kept != before)
        for act in decide(wanted, self._kept, alive, running, now):
            match act:
                case StartProcess(program):
                    self._start(program, wanted.mark)
                case EndProcess(mark):
                    self._end(mark)
        self._forget({program.name for program in wanted.programs}, set(running))
        self._cut_logs(wanted)
        return bool(wanted.programs or running)

    def _adopt(self) -> None:
        """Find what an earlier keeper meant to start and may have started."""
        started = {name: leader_of(kept.mark) for name, kept in self._kept.items() if kept.process is None}
        found = {name: replace(self._kept[name], process=process) for name, process in started.items() if process}
        if found:
            self._kept |= found
            self._write()

    def _is_alive(self, name: str, now: float) -> bool:
        kept, child = self._kept[name], self._children.get(name)
        if kept.process is None:
            return False
        if kept.process.alive:
            return True
        code = child.poll() if child is not None else None
        self._children.pop(name, None)
        self._kept[name] = after_death(kept, now, code)
        return False

    def _marks(self, wanted: Wanted, *, fresh: bool) -> list[str]:
        """The marks that are carried now; looked for when something may have changed, else now and then."""
        at, seen = self._scanned
        if fresh or self._ending or wanted != seen or time.monotonic() - at > SCAN_S:
            self._scanned = (time.monotonic(), wanted)
            self._running = [mark for mark in map(mark_of, carrying(wanted.mark)) if mark]
        return self._running

    def _start(self, program: Program, target: str) -> None:
        mark = f"{target}/{program.name}/{secrets.token_hex(8)}"
        deaths = self._kept[program.name].deaths if program.name in self._kept else ()
        self._kept[program.name] = Kept(mark=mark, deaths=deaths)
        self._write()
        try:
            environment = variables_of(program, mark, self._environ)
            with Path(program.log).open("ab") as log:
                child = subprocess.Popen(
                    [word.replace("{port}", str(program.port)) for word in program.argv],
                    cwd=program.folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except (OSError, KeyError) as error:
            said = f"variable {error} is not set where it was deployed" if isinstance(error, KeyError) else str(error)
            self._kept[program.name] = after_death(self._kept[program.name], time.time(), None, said)
        else:
            ticks = born(child.pid)
            process = Process(pid=child.pid, ticks=ticks) if ticks is not None else None
            self._children[program.name] = child
            kept = self._kept[program.name]
            self._kept[program.name] = (
                replace(kept, process=process) if process else after_death(kept, time.time(), child.wait())
            )
        self._write()

    def _end(self, mark: str) -> None:
        """Ask once, and kill what is still there after the grace."""
        asked_at = self._ending.setdefault(mark, 0.0)
        if not asked_at:
            tell(mark, signal.SIGTERM)
            self._ending[mark] = time.monotonic()
        elif time.monotonic() - asked_at > GRACE_S:
            tell(mark, signal.SIGKILL)

    def _forget(self, wanted: set[str], running: set[str]) -> None:
        """Drop what is neither wanted nor runs any more, and take note of our own dead."""
        for child in [*self._children.values()]:
            child.poll()
        gone = [name for name, kept in self._kept.items() if name not in wanted and kept.mark not in running]
        for name in gone:
            self._children.pop(name, None)
            del self._kept[name]
        self._ending = {mark: at for mark, at in self._ending.items() if mark in running}
        if gone:
            self._write()

    def _cut_logs(self, wanted: Wanted) -> None:
        """A log that grew too long is moved aside; the program goes on writing to the beginning of the same file."""
        most = {program.log: LARGEST_LOG for program in wanted.programs}
        most |= {str(self._folder / failed_log(side)): LARGEST_FAILED for side in SIDES}
        for log, largest in most.items():
            with suppress(OSError):
                if os.stat(log).st_size > largest:  # noqa: PTH116
                    Path(f"{log}.before").write_bytes(Path(log).read_bytes())
                    os.truncate(log, 0)

    def _write(self) -> None:
        write_kept(self._folder, self._kept)


def main(folder: Path) -> int:
    """Keep until told to go; the programs go on."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while _keep(folder):
        wanted = read_wanted(folder)  # somebody may have relied on who held the lock after the last look
        if wanted is None or not wanted.programs:
            break
    return 0


def _keep(folder: Path) -> bool:
    """Keep while anything is wanted or runs; False where somebody else does."""
    with (folder / KEEPER_LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        lock.truncate(0)
        lock.write(f"{os.getpid()} {born(os.getpid())}")
        lock.flush()
        keeper = Keeper(folder, dict(os.environ))
        while True:
            try:
                if not keeper.turn():
                    return True
            except OSError as error:  # a full disk, too many processes: what runs goes on, and it is tried again
                sys.stderr.write(f"{error}\n")
                time.sleep(1)
            time.sleep(LOOK_S)


if __name__ == "__main__":
    if os.fork():  # whoever started this need not wait, and is not the parent of what goes on
        os._exit(0)
    sys.exit(main(Path(sys.argv[1])))
