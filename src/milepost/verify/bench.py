"""The bench that checks run their commands on: terminal, interpreter, time, and what is kept of the output."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never

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


def ending_of(result: CommandResult, argv: tuple[str, ...], timeout_s: float) -> str:
    """How a command ended, in words: `exit 1`, `timed out after 600 s`, `not found: make`."""
    match result.termination:
        case "exited":
            return f"exit {result.exit_code}"
        case "timeout":
            return f"timed out after {timeout_s:g} s"
        case "idle":
            return "was stopped: it wrote nothing for too long"
        case "output":
            return "was stopped: it wrote too much"
        case "memory":
            return "was stopped: it took too much memory"
        case "signalled" | "killed":
            return f"was ended by a signal{f': {result.error}' if result.error else ''}"
        case "not_started":
            signs = ("not found", "no such file", "not on path", "does not exist")
            lost = any(sign in result.error.lower() for sign in signs)
            return f"not found: {argv[0]}" if lost else f"could not start: {result.error}"
        case _ as never:
            assert_never(never)


def last_line(text: str) -> str:
    """The last line that says something, without the mark that pytest puts before an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("E   ")[:LONGEST_LINE] if lines else ""
