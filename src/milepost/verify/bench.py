"""The bench that checks run their commands on: terminal, interpreter, time, and what is kept of the output."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult
from milepost.core.ports import Terminal
from milepost.verify.project import Interpreter, PytestPresence, environment_for

LONGEST_LOG = 8_000
LONGEST_LINE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """`path` is the search path of commands; `redact` sees their output before anything else does."""

    terminal: Terminal
    interpreter: Interpreter | None = None
    timeout_s: float = 600.0
    redact: Callable[[str], str] = str
    path: str = field(default_factory=lambda: os.environ.get("PATH", os.defpath))
    pytest: PytestPresence = field(default_factory=PytestPresence)

    def run(
        self,
        argv: tuple[str, ...],
        workspace: Workspace,
        *,
        env: Mapping[str, str] | None = None,
        readable: tuple[Path, ...] = (),
        stdin: str = "",
    ) -> CommandResult:
        """Run a command in the checkout; `env` goes over what the interpreter asks for."""
        own = environment_for(self.interpreter, workspace.folder, self.path) if self.interpreter else {}
        needed = self.interpreter.readable if self.interpreter else ()
        command = Command(
            argv=argv,
            cwd=workspace.folder,
            scratch=workspace.scratch,
            env={**own, **(env or {})},
            stdin=stdin,
            timeout_s=self.timeout_s,
            readable=(*needed, *readable),
        )
        result = self.terminal.run(command)
        return replace(
            result,
            stdout=self.redact(result.stdout),
            stderr=self.redact(result.stderr),
            error=self.redact(result.error),
        )

    def has_pytest(self, interpreter: Interpreter, workspace: Workspace) -> bool:
        """Asked in isolated mode: a `pytest.py` that an agent wrote into the checkout is not the answer."""

        def ask() -> bool | None:
            result = self.run((str(interpreter.path), "-I", "-c", "import pytest"), workspace)
            return result.succeeded if result.termination == "exited" else None

        return self.pytest.of(interpreter, ask)


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
    """The last line that says something, without the mark that pytest puts before an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("E   ")[:LONGEST_LINE] if lines else ""
