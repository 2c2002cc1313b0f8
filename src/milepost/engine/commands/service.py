"""Runs that a restart of the machine interrupted: which they are, continuing them, and the unit that does so."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import FileInTheWay, MachineFailed, MilepostError
from milepost.engine.commands import service_unit as unit
from milepost.engine.project import open_runs
from milepost.engine.project.open_runs import OpenRun
from milepost.engine.views.status import status

PROGRAM = (sys.executable, "-P", "-m", "milepost")
_LONGEST_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptedRun:
    """A run that nobody stopped and no process works on; it `goes_on_at` this moment, or as soon as it can.

    `after_restart` says that the machine was started anew since: the service continues it then.
    """

    run: str
    roadmap: Path
    goes_on_at: float | None
    after_restart: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceState:
    """Where the unit is, and whether it starts; `lingers` says that it does so before anybody logs in."""

    unit: Path
    installed: bool
    enabled: bool
    lingers: bool
    interrupted: tuple[InterruptedRun, ...]


def install() -> ServiceState:
    """Write the unit and enable it; raises where systemd does not run, or where the file is somebody else's."""
    if not _succeeds(unit.probe_command()):
        raise MachineFailed(
            "systemd does not run for this user, so there is nothing that could start the service",
            f"add this line with crontab -e: {unit.cron_line(PROGRAM, os.environ)}",
        )
    path = _own_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(unit.unit_text(PROGRAM, os.environ), encoding="utf-8")
    except OSError as error:
        raise MachineFailed(f"{str(path)!r} cannot be written: {error.strerror}", "make its folder writable") from error
    for command in unit.enable_commands():
        _require(command)
    return state()


def uninstall() -> bool:
    """Disable the unit and remove it; False where there was none."""
    path = _own_file()
    if not path.exists():
        return False
    before, after = unit.disable_commands()
    _succeeds(before)  # where systemd does not run, nothing is left but the file
    path.unlink()
    for link in path.parent.glob(f"*.wants/{unit.NAME}"):
        link.unlink(missing_ok=True)
    _succeeds(after)
    return True


def state() -> ServiceState:
    """How the service stands, and which runs are interrupted."""
    path = unit.unit_file(os.environ)
    return ServiceState(
        unit=path,
        installed=path.is_file(),
        enabled=path.is_file() and _succeeds(unit.enabled_command()),
        lingers=_said(unit.linger_command()) == "yes",
        interrupted=interrupted(),
    )


def interrupted() -> tuple[InterruptedRun, ...]:
    """The runs on this machine that were interrupted and that nobody works on; notes of others are removed."""
    now = open_runs.boot_id()
    return tuple(found for one in open_runs.noted() if (found := _interrupted(one, now)) is not None)


def continue_runs(say: Callable[[str], None]) -> int:
    """Continue all runs that a restart interrupted, each in a process of its own; gives how many there were.

    Waits until all have ended. An interruption is passed on to them.
    """
    due = [one for one in interrupted() if one.after_restart]
    with ExitStack() as stack:
        processes = [stack.enter_context(_continued(one, say)) for one in due]
        try:
            for process in processes:
                process.wait()
        except KeyboardInterrupt:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()
            raise
    return len(due)


def resume_command(one: InterruptedRun) -> list[str]:
    return [*PROGRAM, "resume", str(one.roadmap), "--run", one.run, "--at-reset"]


def _continued(one: InterruptedRun, say: Callable[[str], None]) -> subprocess.Popen[bytes]:
    say(f"continuing run {one.run} of {one.roadmap}")
    return subprocess.Popen(
        resume_command(one), cwd=one.roadmap.parent, stdin=subprocess.DEVNULL, start_new_session=True
    )


def _interrupted(one: OpenRun, boot: str) -> InterruptedRun | None:
    roadmap = Path(one.roadmap)
    try:
        found = status(roadmap) if roadmap.exists() else None
    except MilepostError:  # whoever looks at that roadmap is told
        return None
    if found is None or found.run != one.run or found.state in ("finished", "left"):
        open_runs.forget(roadmap)
        return None
    if found.state != "interrupted":
        return None
    return InterruptedRun(
        run=one.run, roadmap=roadmap, goes_on_at=found.goes_on_at, after_restart=bool(boot) and one.boot != boot
    )


def _own_file() -> Path:
    """The unit's file; raises where one is there that Milepost did not write."""
    path = unit.unit_file(os.environ)
    if path.exists() and not path.read_text(encoding="utf-8", errors="replace").startswith(unit.MADE_BY):
        raise FileInTheWay(f"{str(path)!r} was not written by milepost", "move it away, or keep it instead")
    return path


def _require(command: list[str]) -> None:
    done = _run(command)
    if done is None or done.returncode:
        said = done.stderr.strip().splitlines() if done is not None else []
        raise MachineFailed(f"{' '.join(command)}: {said[-1] if said else 'failed'}", "run it by hand to see why")


def _succeeds(command: list[str]) -> bool:
    done = _run(command)
    return done is not None and done.returncode == 0


def _said(command: list[str]) -> str:
    done = _run(command)
    return done.stdout.strip() if done is not None and done.returncode == 0 else ""


def _run(command: list[str]) -> subprocess.CompletedProcess[str] | None:
    """What a command said; None where it is not there or does not end."""
    try:
        return subprocess.run(
            command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_LONGEST_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
