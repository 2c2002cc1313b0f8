"""What is asked of a base is told as such: that it fails there is no trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line
from milepost.engine.records.journal import Journal
from milepost.engine.verification.baseline import ABOUT, Baselines
from milepost.engine.verification.equipped_checkout import CheckoutEquipper
from milepost.verify.command_runner import Bench


@dataclass
class Failing:
    """A terminal on which everything fails, and that knows what was run."""

    ran: list[Command] = field(default_factory=list)

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        self.ran.append(command)
        return CommandResult(
            termination="exited", exit_code=2, stdout="", stderr="no such file", duration_ms=1, enforced=()
        )


@dataclass
class Fitting:
    folder: Path
    terminal: Failing

    @contextmanager
    def fitted(self, name: str, commit: str) -> Iterator[tuple[Workspace, Bench]]:
        yield Workspace(folder=self.folder, scratch=self.folder, base=commit), Bench(terminal=self.terminal)


def test_commands_that_are_run_at_the_base_say_so_and_are_run_once(tmp_path: Path) -> None:
    terminal = Failing()
    with Journal(tmp_path / "milepost.db") as journal:
        baselines = Baselines(journal, "7f3a", cast("CheckoutEquipper", Fitting(tmp_path, terminal)))
        base = baselines.at("c" * 40, "d" * 40)
        found = [base.command("grep -q hello a.txt") for _ in range(2)]
    assert [line and (line.outcome, line.opens_known) for line in found] == [("failed", False)] * 2
    assert {command.about for command in terminal.ran} == {ABOUT}
    assert sum("grep" in command.argv for command in terminal.ran) == 1
