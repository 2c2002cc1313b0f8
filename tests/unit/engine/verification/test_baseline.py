"""What is asked of a base is told as such: that it fails there is no trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.verdict import CheckResult, Evidence, TestCase, Verdict
from milepost.engine.records.journal import Journal
from milepost.engine.verification.baseline import ABOUT, Baselines
from milepost.engine.verification.equipped_checkout import CheckoutEquipper
from milepost.engine.verification.surroundings import Surroundings
from milepost.verify.command_runner import Bench
from milepost.verify.environments import Equipment


@dataclass
class Failing:
    """A terminal on which everything fails, and that knows what was run."""

    ran: list[Command] = field(default_factory=list)
    exit_code: int | None = 2

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        self.ran.append(command)
        return CommandResult(
            termination="exited" if self.exit_code is not None else "timeout",
            exit_code=self.exit_code,
            stdout="",
            stderr="no such file",
            duration_ms=1,
            enforced=(),
        )


@dataclass
class Fitting:
    folder: Path
    terminal: Failing
    equipment: Equipment = field(default_factory=Equipment)

    @contextmanager
    def fitted(self, name: str, commit: str) -> Iterator[tuple[Workspace, Bench]]:
        yield Workspace(folder=self.folder, scratch=self.folder, base=commit), self.bench

    @property
    def bench(self) -> Bench:
        return Bench(terminal=self.terminal, equipment=self.equipment)


def test_commands_that_are_run_at_the_base_say_so_and_are_run_once(tmp_path: Path) -> None:
    terminal = Failing()
    with Journal(tmp_path / "milepost.db") as journal:
        baselines = Baselines(journal, "7f3a", cast("CheckoutEquipper", Fitting(tmp_path, terminal)))
        base = baselines.at("c" * 40, "d" * 40)
        found = [base.command("grep -q hello a.txt") for _ in range(2)]
    assert [line and (line.outcome, line.opens_known) for line in found] == [("failed", False)] * 2
    assert {command.about for command in terminal.ran} == {ABOUT}
    assert sum("grep" in command.argv for command in terminal.ran) == 1


@pytest.mark.parametrize(("exit_code", "told"), [(2, {"sh test/a.sh": "failed"}), (None, None)])
def test_a_line_is_run_with_the_files_of_an_attempt_on_the_source_of_the_base(
    tmp_path: Path, exit_code: int | None, told: object
) -> None:
    class Reading(Failing):
        def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
            seen.append((tmp_path / "test" / "a.sh").exists())
            return super().run(command, on_line)

    seen: list[bool] = []
    fitting = cast("CheckoutEquipper", Fitting(tmp_path, Reading(exit_code=exit_code)))
    with Journal(tmp_path / "milepost.db") as journal:
        base = Baselines(journal, "7f3a", fitting).at("c" * 40, "d" * 40)
        assert base.line_with("sh test/a.sh", {"test/a.sh": b"exit 2\n"}) == told
    assert seen[-1] and not (tmp_path / "test" / "a.sh").exists()


HERE, ELSEWHERE = Surroundings(fingerprint="a1"), Surroundings(fingerprint="b2")
OPEN = Surroundings(fingerprint="a1", lasts=False)


@pytest.mark.parametrize(
    ("first", "second", "problem", "times"),
    [
        (HERE, HERE, "", 1),
        (HERE, ELSEWHERE, "", 2),
        (OPEN, OPEN, "", 2),
        (HERE, HERE, "the index cannot be reached", 2),
    ],
    ids=["the same surroundings", "others", "an open network", "without what the project needs"],
)
def test_an_answer_serves_a_later_run_in_the_same_surroundings(
    tmp_path: Path, first: Surroundings, second: Surroundings, problem: str, times: int
) -> None:
    terminal = Failing(exit_code=0)
    fitting = cast("CheckoutEquipper", Fitting(tmp_path, terminal, Equipment(problem=problem)))
    with Journal(tmp_path / "milepost.db") as journal:
        for run, around in (("7f3a", first), ("7f3a", first), ("8b21", second)):
            baselines = Baselines(journal, run, fitting, surroundings=around)
            found = baselines.at("c" * 40, "d" * 40).command("grep -q hello a.txt")
            assert found is not None and found.outcome == "passed"
    assert sum("grep" in command.argv for command in terminal.ran) == times


def test_what_is_unknown_is_asked_again_by_the_next_run(tmp_path: Path) -> None:
    terminal = Failing(exit_code=None)
    fitting = cast("CheckoutEquipper", Fitting(tmp_path, terminal))
    with Journal(tmp_path / "milepost.db") as journal:
        for run in ("7f3a", "8b21"):
            base = Baselines(journal, run, fitting, surroundings=HERE).at("c" * 40, "d" * 40)
            assert [base.command("sleep 1000") for _ in range(2)] == [None, None]
    assert sum("sleep" in command.argv for command in terminal.ran) == 2


def test_a_tree_that_was_verified_is_a_base_that_the_next_run_knows(tmp_path: Path) -> None:
    case = TestCase(id="t.py::test_a", outcome="passed")
    evidence = Evidence(
        verdict=Verdict.PASSED,
        tree="d" * 40,
        checks=(CheckResult(name="tests", outcome="passed", summary="", cases=(case,)),),
    )
    fitting = cast("CheckoutEquipper", Fitting(tmp_path, Failing()))
    with Journal(tmp_path / "milepost.db") as journal:
        Baselines(journal, "7f3a", fitting, surroundings=HERE).learn(evidence)
        base = Baselines(journal, "8b21", fitting, surroundings=HERE).at("c" * 40, "d" * 40)
        assert base.tests() == {"t.py::test_a": "passed"}
