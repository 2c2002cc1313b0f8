"""How long a command may take follows from what it took at the base."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, ending_in_words
from milepost.verify.command_runner import Bench


class Endless:
    """A terminal on which every command runs out of time."""

    def run(self, command: Command, on_line: object = None) -> CommandResult:
        self.command = command
        return CommandResult(
            termination="timeout", exit_code=None, stdout="", stderr="", duration_ms=1, enforced=(), error=""
        )


@pytest.mark.parametrize(
    ("took_s", "limit_s"), [(0.2, 60), (10, 80), (300, 900), (None, 900)], ids=["short", "longer", "outer", "unknown"]
)
def test_a_limit_is_a_multiple_of_what_it_took_at_the_base(
    tmp_path: Path, took_s: float | None, limit_s: float
) -> None:
    terminal = Endless()
    bench = Bench(terminal=terminal, timeout_s=900).timed_by(took_s)
    done = bench.run(("pytest",), Workspace(folder=tmp_path, scratch=tmp_path, base="0" * 40))
    assert terminal.command.timeout_s == limit_s == bench.timeout_s
    why = f": it took {took_s:g} s at the base" if limit_s < 900 else ""
    assert ending_in_words(done, program="pytest", timeout_s=bench.timeout_s) == f"timed out after {limit_s} s{why}"
