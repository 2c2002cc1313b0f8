"""The fuzzer itself: it finds what is there to be found, and every target can be run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from milepost.core.errors import Misuse
from tests.fuzz.found import FOUND
from tests.fuzz.run import Target, fuzz, problem_of
from tests.fuzz.targets import TARGETS


def test_what_is_not_of_the_error_tree_is_a_finding_with_its_input() -> None:
    def check(number: int) -> None:
        if number % 2:
            raise Misuse("odd", "give an even one")
        raise ValueError("even")

    report = fuzz(Target(inputs=st.integers(), check=check), seconds=0, round_of=20)
    assert report.executions >= 20
    assert [(problem.split(" in ")[0], given % 2) for problem, given in report.findings.items()] == [("ValueError", 0)]


@pytest.mark.parametrize("name", sorted(set(TARGETS) - {"mcp"}))
def test_a_target_runs_and_finds_nothing_at_once(name: str) -> None:
    with TARGETS[name]() as target:
        report = fuzz(target, seconds=0, round_of=4)
    assert report.executions >= 4 and report.findings == {}


@pytest.mark.parametrize(("name", "given"), [pytest.param(name, given, id=what) for what, name, given in FOUND])
def test_what_was_found_once_is_found_no_more(name: str, given: Any) -> None:
    with TARGETS[name]() as target:
        assert problem_of(target.check, given) == ""
