"""From a command to the launch that a relay can carry out."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.commands import Command
from milepost.core.machine import machine_failure
from milepost.sandbox.environment import DEFAULT_PATH, environment, prepare_scratch
from milepost.sandbox.reach import Missing, Reach, find_program, reach, toolchain_variables


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is the same for every command of a terminal: whose home it is, and what all may read."""

    home: Path
    readable: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that a relay needs to know to start a guest. `timeout_s` None leaves the clock to the host."""

    program: Path
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    reach: Reach
    timeout_s: float | None
    rlimits: Mapping[str, int] = field(default_factory=lambda: {"core": 0})

    def to_json(self) -> bytes:
        return json.dumps(
            {
                "program": str(self.program),
                "argv": self.argv,
                "env": dict(self.env),
                "cwd": str(self.cwd),
                "readable": [str(path) for path in self.reach.readable],
                "writable": [str(path) for path in self.reach.writable],
                "timeout_s": self.timeout_s,
                "rlimits": dict(self.rlimits),
            }
        ).encode()


def launch_of(command: Command, around: Surroundings) -> Launch | Missing:
    """What to start for a command, its scratch folder made ready; or what it lacks. MachineFailed on a full disk."""
    if not command.argv:
        return Missing("there is no program to run: argv is empty")
    command = replace(command, cwd=command.cwd.absolute(), scratch=command.scratch.absolute())
    try:
        prepare_scratch(command.scratch)
    except OSError as problem:
        if failure := machine_failure(problem, f"the scratch folder {str(command.scratch)!r} cannot be made"):
            raise failure from problem
        return Missing(f"the scratch folder cannot be made: {problem}")
    path = command.env.get("PATH") or os.environ.get("PATH") or DEFAULT_PATH
    variables = environment(
        host=os.environ,
        user=_user(),
        scratch=command.scratch,
        given=command.env,
        toolchains=toolchain_variables(path, around.home),
    )
    if not os.access(command.cwd, os.F_OK):
        return Missing(f"the working directory does not exist: {command.cwd}")
    program = find_program(command.argv[0], path, command.cwd)
    if isinstance(program, Missing):
        return program
    reached = reach(command, program=program, path=path, home=around.home, extra=around.readable)
    return Launch(
        program=program, argv=command.argv, env=variables, cwd=command.cwd, reach=reached, timeout_s=command.timeout_s
    )


def users_home() -> Path:
    """The home folder, or for a user who has none a path that is not there."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
