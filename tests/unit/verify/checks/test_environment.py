"""An environment that could not be got."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult
from milepost.verify.checks.environment import EnvironmentCheck
from milepost.verify.command_runner import Bench
from milepost.verify.environments import Equipment

HERE = Workspace(folder=Path(), scratch=Path(), base="")


class NoTerminal:
    def run(self, command: Command, on_line: object = None) -> CommandResult:
        raise AssertionError


@pytest.mark.parametrize(
    ("before", "outcome"),
    [
        (("old", ""), "failed"),
        (("new", ""), "absent"),
        (("old", "no network"), "absent"),
        (None, "absent"),
    ],
)
def test_what_cannot_be_got_fails_only_who_asked_for_it(before: tuple[str, str] | None, outcome: str) -> None:
    bench = Bench(terminal=NoTerminal(), equipment=Equipment(lock="new", problem="pip said\nno such package"))
    result = EnvironmentCheck(bench=bench, before=before).run(HERE)
    assert (result.outcome, "no such package" in result.summary) == (outcome, True)


def test_an_environment_says_where_it_comes_from() -> None:
    bench = Bench(terminal=NoTerminal(), equipment=Equipment(origin=("your own .venv",)))
    assert EnvironmentCheck(bench=bench).run(HERE).summary == "your own .venv"
