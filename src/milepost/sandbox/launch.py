"""From a command to the launch that a relay can carry out."""

from __future__ import annotations

import json
import math
import os
import pwd
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from milepost.core.commands import NO_NETWORK, Bounds, Command, Network, TrustLevel
from milepost.core.machine_failure import machine_failure
from milepost.sandbox.environment import DEFAULT_PATH, environment, prepare_scratch
from milepost.sandbox.protected_paths import Guard
from milepost.sandbox.toolchain_managers import managers_in_use
from milepost.sandbox.visible_paths import Missing, Reach, find_program, led_out_of, reach

WALLS_PARENT = Path(__file__).parent
_MEBIBYTE = 1 << 20
_TMP_MB = 1024
# What the private root of a sandboxed guest brings by itself, and what of it the guest may change.
_BROUGHT_BY_ROOM = tuple(map(Path, ("/proc", "/dev")))
_WRITABLE_IN_ROOM = tuple(map(Path, ("/tmp", "/dev")))  # noqa: S108 - a private one
_MEMORY_OF_ROOM = "/dev/shm"  # noqa: S108 - on one file system with /tmp, and never shared with the host


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is the same for every command of a terminal: how firmly it is held, whose home it is, what all may read.

    `in_checkouts` says that its folders are thrown away and `.git` there is the guest's own. Else it is the user's.
    """

    home: Path
    trust: TrustLevel = TrustLevel.ISOLATED
    readable: tuple[Path, ...] = ()
    in_checkouts: bool = False

    def guard(self, command: Command) -> Guard | None:
        """What keeps the user's repository in the folders that a command may change."""
        return None if self.in_checkouts else Guard((command.cwd, *command.writable))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A folder whose changes are held back until somebody accepts them, and how large they may be."""

    folder: Path
    size_mb: int
    inodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that a relay needs to know to start a guest. Without a program it is a session of the warden's interpreter.

    `timeout_s` None leaves the clock to the host. `ports` are those of the host's loopback that it may connect to,
    `listen` those that are to stand in its own network namespace. `guard` says what it must not change in its folders.
    """

    program: Path | None
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    reach: Reach
    timeout_s: float | None
    trust: TrustLevel = TrustLevel.ISOLATED
    network: Network = NO_NETWORK
    bounds: Bounds = field(default_factory=Bounds)
    ports: tuple[int, ...] = ()
    listen: tuple[int, ...] = ()
    overlay: Overlay | None = None
    guard: Guard | None = None

    @property
    def protected(self) -> tuple[Path, ...]:
        return () if self.guard is None else self.guard.paths()

    def to_json(self) -> bytes:
        in_room = self.trust is TrustLevel.SANDBOXED
        readable = (*self.reach.readable, *_BROUGHT_BY_ROOM) if in_room else self.reach.readable
        writable = (*self.reach.folders, *_WRITABLE_IN_ROOM) if in_room else self.reach.writable
        protected = list(map(str, self.protected))
        wanted: dict[str, Any] = {
            "program": None if self.program is None else str(self.program),
            "argv": self.argv,
            "env": dict(self.env),
            "cwd": str(self.cwd),
            "readable": list(map(str, readable)),
            "writable": list(map(str, writable)),
            "protected": protected,
            "tmp_mb": self._tmp_mb,
            "timeout_s": self.timeout_s,
            "rlimits": _rlimits(self.bounds, counts_processes=in_room and os.geteuid() != 0),
            "network": self.network.mode,
            "bounds": asdict(self.bounds),
            "watched": self._watched(in_room=in_room),
            "rules": {
                "writable": list(map(str, writable)),
                "protected": protected,
                "network": "open" if in_room else self.network.mode,  # a room holds its network by itself
                "ports": list(self.ports),
            },
            "room": self._room(protected) if in_room else None,
            "changes": self.overlay is not None,
            "hidden": str(WALLS_PARENT),
        }
        return json.dumps(wanted).encode()

    def _watched(self, *, in_room: bool) -> dict[str, list[str]]:
        """Where what the guest adds is counted: in file systems of its own, and in folders of any."""
        overlaid = () if self.overlay is None else (self.overlay.folder,)
        return {
            "shared": [str(folder) for folder in self.reach.folders if folder not in overlaid],
            "own": [_MEMORY_OF_ROOM, *map(str, overlaid)] if in_room else [],
        }

    @property
    def _tmp_mb(self) -> int:
        return min(_TMP_MB, self.bounds.disk_mb or _TMP_MB)

    def _room(self, protected: list[str]) -> dict[str, Any]:
        readable = [path for path in self.reach.mounted if not any(map(path.is_relative_to, _BROUGHT_BY_ROOM))]
        overlay = None if self.overlay is None else {**asdict(self.overlay), "folder": str(self.overlay.folder)}
        return {
            "readable": list(map(str, readable)),
            "writable": list(map(str, self.reach.folders)),
            "protected": protected,
            "network": self.network.mode,
            "listen": list(self.listen),
            "overlay": overlay,
            "tmp_mb": self._tmp_mb,
            "hostname": "sandbox",
        }


Prepare = Callable[[Command, Surroundings], Launch | Missing]


def launch_of(command: Command, around: Surroundings) -> Launch | Missing:
    """What to start for a command, its scratch folder made ready; or what it lacks. MachineFailed on a full disk."""
    if not command.argv:
        return Missing("there is no program to run: argv is empty")
    command = replace(command, cwd=command.cwd.absolute(), scratch=command.scratch.absolute())
    path = command.env.get("PATH") or os.environ.get("PATH") or DEFAULT_PATH
    managers = managers_in_use(path, around.home, command.cwd)
    try:
        prepare_scratch(command.scratch, managers.lent)
    except OSError as problem:
        if failure := machine_failure(problem, f"the scratch folder {str(command.scratch)!r} cannot be created"):
            raise failure from problem
        return Missing(f"the scratch folder cannot be created: {problem}")
    variables = environment(
        host=os.environ,
        user=_user(),
        scratch=command.scratch,
        given=command.env,
        toolchains=managers.variables,
    )
    if not os.access(command.cwd, os.F_OK):
        return Missing(f"the working directory does not exist: {command.cwd}")
    if (folder := led_out_of(command)) is not None:
        return Missing(f"the working directory is outside of {str(folder)!r}: {command.cwd}")
    program = find_program(command.argv[0], path, command.cwd)
    if isinstance(program, Missing):
        return program
    extra = (*managers.readable, *around.readable)
    reached = reach(command, program=program, path=path, home=around.home, extra=extra)
    return Launch(
        program=program,
        argv=command.argv,
        env=variables,
        cwd=command.cwd,
        reach=reached,
        timeout_s=command.timeout_s,
        trust=around.trust,
        network=command.network,
        bounds=command.bounds,
        guard=around.guard(command),
    )


def users_home() -> Path:
    """The home folder, or for a user who has none a path that is not there."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _rlimits(bounds: Bounds, *, counts_processes: bool) -> dict[str, int]:
    # RLIMIT_DATA rather than RLIMIT_AS: the latter counts what is only mapped, and breaks threads. The kernel counts
    # processes by user, and so for a guest alone only in a user namespace; never those of root.
    wanted = {
        "core": 0,
        "data": None if bounds.memory_mb is None else bounds.memory_mb * _MEBIBYTE,
        "cpu": None if bounds.cpu_s is None else math.ceil(bounds.cpu_s),
        "fsize": None if bounds.file_mb is None else bounds.file_mb * _MEBIBYTE,
        "nofile": bounds.open_files,
        "nproc": bounds.processes if counts_processes else None,
    }
    return {name: limit for name, limit in wanted.items() if limit is not None}


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
