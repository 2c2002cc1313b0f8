"""The bench that checks run their commands on: terminal, interpreter, time, and what is kept of the output."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.machine_failure import machine_failure
from milepost.core.ports import Terminal
from milepost.verify.environment_fingerprint import fingerprint
from milepost.verify.environments.equipment import Equipment, lay
from milepost.verify.suites.python_project import ProjectPython, PytestPresence, environment_for
from milepost.verify.watched import Watched

LONGEST_LOG = 8_000
_ALONE = {"PYTHONNOUSERSITE": "1"}  # what one command leaves in its home is not imported by the next
LONGEST_LINE = 200
SHORTEST_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """`path` is the search path of commands; `redact` sees their output before anything else does.

    `equipment` is that of the checkout the bench is for: its links are in place before every command. `watched` says
    what runners watch while tests run, None for nothing.
    """

    terminal: Terminal
    interpreter: ProjectPython | None = None
    timeout_s: float = 600.0
    stall_timeout_s: float | None = None
    took_at_base_s: float | None = None
    redact: Callable[[str], str] = str
    path: str = field(default_factory=lambda: os.environ.get("PATH", os.defpath))
    pytest: PytestPresence = field(default_factory=PytestPresence)
    equipment: Equipment = field(default_factory=Equipment)
    watched: Watched | None = None
    about: str = ""  # what is told of commands whose failing is no trouble

    def run(
        self,
        argv: tuple[str, ...],
        workspace: Workspace,
        *,
        env: Mapping[str, str] | None = None,
        readable: tuple[Path, ...] = (),
        stdin: str = "",
        cwd: str = "",
        timeout_s: float | None = None,
        on_line: Callable[[Line], None] | None = None,
        lines_are_signed: bool = False,
    ) -> CommandResult:
        """Run a command in the checkout, or in its folder `cwd`; `env` goes over what the interpreter asks for.

        `on_line` is given every line as it comes, redacted, in this thread; those that are signed are for it alone.
        """
        folder = _within(workspace.folder, cwd)
        if folder is None:
            return _not_started(f"{cwd!r} is not a folder in the checkout")
        try:
            lay(self.equipment.links, workspace.folder)
        except OSError as error:
            if failure := machine_failure(error, "cannot link the installed packages"):
                raise failure from error
            return _not_started(f"cannot link the installed packages: {error}")
        own = environment_for(self.interpreter, workspace.folder, self.path) if self.interpreter else {}
        needed = (*(self.interpreter.readable if self.interpreter else ()), *self.equipment.readable)
        command = Command(
            argv=argv,
            cwd=folder,
            scratch=workspace.scratch,
            env={**_ALONE, **own, **self.equipment.variables, **(env or {})},
            stdin=stdin,
            timeout_s=self.timeout_s if timeout_s is None else timeout_s,
            stall_timeout_s=self.stall_timeout_s,
            about=self.about,
            readable=(*needed, *readable),
            writable=(workspace.folder,) if cwd else (),
            lines_are_signed=lines_are_signed,
        )
        result = self.terminal.run(command, on_line and self._redacting(on_line))
        return replace(
            result,
            stdout=self.redact(result.stdout),
            stderr=self.redact(result.stderr),
            error=self.redact(self._why_ended(result)),
        )

    def timed_by(self, took_s: float | None) -> Bench:
        """The same bench for commands that took so long at the base: one that takes many times as long has no end."""
        if took_s is None or allowed_s(took_s) >= self.timeout_s:
            return self
        return replace(self, timeout_s=allowed_s(took_s), took_at_base_s=took_s)

    def _why_ended(self, result: CommandResult) -> str:
        if result.termination != "timeout" or self.took_at_base_s is None:
            return result.error
        return f"it took {self.took_at_base_s:.3g} s at the base"

    def equipped(self, equipment: Equipment) -> Bench:
        """The same bench for the checkout that the equipment was got for."""
        return replace(self, equipment=equipment, interpreter=equipment.interpreter)

    def fingerprint(self, argv: tuple[str, ...], env: Mapping[str, str] | None = None) -> str:
        """What a command runs with, in words and as a short hash: of programs, platform, names of variables, lock.

        The same hash twice means that a difference in what came of it is the project's.
        """
        return fingerprint(argv, env or {}, self.interpreter, self.equipment, self.path)

    def has_pytest(self, interpreter: ProjectPython, workspace: Workspace) -> bool:
        """Asked in isolated mode: a `pytest.py` that an agent wrote into the checkout is not the answer."""

        def ask() -> bool | None:
            result = self.run((str(interpreter.path), "-I", "-c", "import pytest"), workspace)
            return result.succeeded if result.termination == "exited" else None

        return self.pytest.of(interpreter, ask)

    def _redacting(self, on_line: Callable[[Line], None]) -> Callable[[Line], None]:
        return lambda line: on_line(replace(line, text=self.redact(line.text)))


def allowed_s(took_s: float) -> float:
    """How long a command may take that took so long at the base: longer on a busy machine, but not without end."""
    return max(SHORTEST_LIMIT_S, 5 * took_s + 30)


def log_of(result: CommandResult) -> str:
    """The end of what a command wrote, short enough to keep."""
    parts = [part.strip("\n") for part in (result.stdout, result.stderr, result.error) if part.strip()]
    return tail("\n".join(parts), LONGEST_LOG)


def tail(text: str, bytes_allowed: int) -> str:
    """The last lines of `text` that fit."""
    encoded = text.encode("utf-8", errors="replace")
    if len(encoded) <= bytes_allowed:
        return text
    kept = encoded[-bytes_allowed:].decode("utf-8", errors="ignore")
    _, newline, rest = kept.partition("\n")
    return rest if newline and rest else kept


def last_line(text: str) -> str:
    """The last line that says something, without pytest's mark of an error; of TAP the first failure."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    red = (line for line in lines if line.startswith("not ok ") and "# TODO" not in line and "# SKIP" not in line)
    told = next(red, lines[-1] if lines else "")
    return told.removeprefix("E   ")[:LONGEST_LINE]


def _within(checkout: Path, folder: str) -> Path | None:
    """The folder of the checkout; None for one that a link or dots lead out of: a command may write where it runs."""
    if not folder:
        return checkout
    found = Path(os.path.realpath(checkout / folder))
    return found if found.is_dir() and found.is_relative_to(os.path.realpath(checkout)) else None


def _not_started(error: str) -> CommandResult:
    return CommandResult(
        termination="not_started", exit_code=None, stdout="", stderr="", duration_ms=0, enforced=(), error=error
    )
