from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.secrets.redact import MASK, Redactor
from milepost.engine.terminals.command_policy import AUDIT, audit_in
from milepost.engine.terminals.wrappers import AuditedTerminal


class Refusing:
    """A terminal that runs nothing, and tells what a sandbox would have refused."""

    def __init__(self, *refused: str) -> None:
        self._refused = refused

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        return CommandResult(
            termination="exited",
            exit_code=0,
            stdout="",
            stderr="",
            duration_ms=1,
            enforced=(),
            refused=self._refused,
        )


def test_what_the_sandbox_refused_is_in_the_audit_without_its_secrets(tmp_path: Path) -> None:
    audit = audit_in(tmp_path, Redactor({"known-secret"}))
    command = Command(argv=("curl", "known-secret"), cwd=tmp_path, scratch=tmp_path)
    AuditedTerminal(Refusing(), audit, "a1b2").run(command)
    AuditedTerminal(Refusing("host example.org:443", "connect 10.0.0.1:80"), audit, "a1b2").run(command)
    [row] = map(json.loads, (tmp_path / AUDIT).read_text().splitlines())
    assert row.pop("at")
    assert row == {"place": "a1b2", "argv": ["curl", MASK], "refused": ["host example.org:443", "connect 10.0.0.1:80"]}
