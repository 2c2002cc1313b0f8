"""Having a keeper at work in a folder: it is started when something is to run, and again where it is gone."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from milepost.core.errors import StateUnwritable, TargetRefused
from milepost.ship.local.processes import MARK, Process, carrying, mark_of
from milepost.ship.local.wanted import KEEPER_LOCK, Wanted, read_kept, read_wanted, write_wanted

WAIT_S = 30.0


class Keeping:
    """One folder and whoever keeps its programs."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        self._environ = environ

    @property
    def keeper(self) -> Process | None:
        """Who is at work, while they hold their lock."""
        with suppress(OSError, ValueError), (self._folder / KEEPER_LOCK).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                pid, ticks = map(int, lock.read().split())
                found = Process(pid=pid, ticks=ticks)
                return found if found.alive else None
        return None

    def want(self, wanted: Wanted, *, fresh: bool = False) -> None:
        """Write down what is to run, and have it done."""
        try:
            write_wanted(self._folder, wanted)
        except OSError as error:
            raise StateUnwritable(
                f"{str(self._folder)!r} cannot be written: {error.strerror}", "free some space, then deploy again"
            ) from error
        self.keep(fresh=fresh)

    def keep(self, *, fresh: bool = False) -> None:
        """Have a keeper at work; a fresh one knows the variables that are set here now."""
        keeper = self.keeper
        if keeper is not None and not fresh:
            return
        if keeper is not None:
            with suppress(ProcessLookupError):
                os.kill(keeper.pid, signal.SIGTERM)
            wait(lambda: self.keeper is None, "the keeper does not end")
        own = {name: value for name, value in self._environ.items() if name != MARK}
        with (self._folder / "keeper.log").open("ab") as log:
            subprocess.run(  # it leaves a process of its own, which is nobody's child
                (sys.executable, "-m", "milepost.ship.local.keeper", str(self._folder)),
                cwd=self._folder,
                env=own,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                check=False,
            )
        problem = f"the keeper does not start: see {self._folder / 'keeper.log'}"
        wait(lambda: self.keeper is not None or self._has_nothing_to_keep(), problem)

    def _has_nothing_to_keep(self) -> bool:
        """Whether a keeper would have ended already: nothing is to run, and nothing runs."""
        wanted = read_wanted(self._folder)
        running = (kept.process for kept in read_kept(self._folder).values() if kept.process)
        return not (wanted and wanted.programs) and not any(process.alive for process in running)

    def until_gone(self, mark: str) -> None:
        """Wait until nothing carries a mark that begins so."""
        target = mark.partition("/")[0]
        is_gone = lambda: not any(mark_of(pid).startswith(mark) for pid in carrying(target))  # noqa: E731
        wait(is_gone, "an instance does not end")


def wait(is_so: Callable[[], bool], what: str) -> None:
    """Return when it is so; raise with `what` when it is not in good time."""
    until = time.monotonic() + WAIT_S
    while not is_so():
        if time.monotonic() > until:
            raise TargetRefused(what, "try again")
        time.sleep(0.02)
