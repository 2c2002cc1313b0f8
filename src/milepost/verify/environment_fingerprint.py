"""What a command of a check runs with, told in a few words that are the same where the surroundings are."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from milepost.verify.environments.equipment import Equipment
from milepost.verify.suites.python_project import ProjectPython, environment_for

_SHOWN = 8


def fingerprint(
    argv: tuple[str, ...], env: Mapping[str, str], interpreter: ProjectPython | None, equipment: Equipment, path: str
) -> str:
    """`python 3.11.7, linux x86_64, lock 3fa91c22 (9d1f0c7a2b4e)`: the last word is a hash over all that is known.

    Of variables only the names take part: their values are of this machine and this moment, or secret.
    """
    own = environment_for(interpreter, Path("/"), path) if interpreter else {}
    program = argv[0] if argv else ""
    found = program if "/" in program else shutil.which(program, path=own.get("PATH", path)) or program
    facts = (
        _place(found, interpreter),
        f"{os.path.realpath(interpreter.path)} {interpreter.version}" if interpreter else "",
        *_machine(),
        *sorted({*own, *equipment.variables, *env}),
        equipment.lock,
    )
    return (
        f"{', '.join(_words(interpreter, equipment))} ({hashlib.sha256(chr(0).join(facts).encode()).hexdigest()[:12]})"
    )


def _words(interpreter: ProjectPython | None, equipment: Equipment) -> tuple[str, ...]:
    version = f"python {interpreter.version}".rstrip() if interpreter else ""
    lock = f"lock {equipment.lock[:_SHOWN]}" if equipment.lock else ""
    return tuple(word for word in (version, " ".join(_machine()[:2]), lock) if word)


def _place(program: str, interpreter: ProjectPython | None) -> str:
    """Where a program is; in an environment, which may be made anew in another folder, where in it."""
    environment = interpreter.environment if interpreter else None
    if environment is not None and Path(program).is_relative_to(environment):
        return f"environment {Path(program).relative_to(environment)}"
    return os.path.realpath(program) if program.startswith("/") else program


@cache
def _machine() -> tuple[str, ...]:
    return platform.system().lower(), platform.machine(), *platform.libc_ver()
