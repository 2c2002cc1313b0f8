"""What is masked of a command's output, and who gets it unmasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.secrets.redact import Redactor
from milepost.engine.terminals.wrappers import RedactingTerminal

LINES = ("-----BEGIN RSA PRIVATE KEY-----", '{"type": "result", "text": "hunter2-hunter2"}')


class Printing:
    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        assert on_line is not None
        for text in LINES:
            on_line(Line(stream="stdout", text=text))
        return CommandResult(
            termination="exited", exit_code=0, stdout="\n".join(LINES), stderr="", duration_ms=1, enforced=()
        )


@pytest.mark.parametrize("parsed", [False, True])
def test_lines_that_are_parsed_come_as_they_are_and_what_is_kept_is_masked_all_the_same(parsed: bool) -> None:
    heard: list[str] = []
    command = Command(argv=("x",), cwd=Path(), scratch=Path(), lines_are_parsed=parsed)

    kept = RedactingTerminal(Printing(), Redactor(frozenset({"hunter2-hunter2"}))).run(
        command, lambda line: heard.append(line.text)
    )

    assert (heard == list(LINES)) == parsed
    assert "hunter2" not in kept.stdout
