from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.verify.selection.selection import Selection
from milepost.verify.selection.starts import StartedTests, placed, portable, selections_of

HERE = Workspace(folder=Path("/w/checkout"), scratch=Path("/w/scratch"), base="")


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (
            StartedTests(
                kind="pytest", argv=("python", "run.py"), cwd="/w/checkout/a", words=("-q", "/w/checkout/a/tests")
            ),
            Selection(runner="pytest", words=("-q", "{checkout}/a/tests"), folder="a"),
        ),
        (
            StartedTests(kind="unittest", argv=("python", "-m", "unittest", "-v", "x"), cwd="/w/checkout"),
            Selection(runner="unittest", words=("-v", "x")),
        ),
        (
            StartedTests(
                kind="unittest",
                argv=("python", "a/test_x.py"),
                cwd="/w/checkout/a",
                tests=(("/w/checkout/a/test_x.py", "T", "test_a"), ("/usr/lib/loader.py", "F", "b")),
            ),
            Selection(runner="unittest", words=("test_x.py",), folder="a"),
        ),
        (
            StartedTests(
                kind="unittest",
                argv=("python", "test_x.py", "T.test_a"),
                cwd="/w/checkout",
                words=("T.test_a",),
                tests=(("/w/checkout/test_x.py", "T", "test_a"),),
            ),
            Selection(runner="unittest", words=("test_x.py::T::test_a",)),
        ),
        (
            StartedTests(kind="node", argv=("node", "/w/checkout/node_modules/.bin/jest", "a"), cwd="/w/checkout"),
            Selection(runner="jest", words=("a",)),
        ),
        (
            StartedTests(
                kind="go", argv=("go", "test", "./..."), cwd="/w/checkout", env={"CGO_ENABLED": "0", "PWD": "/x"}
            ),
            Selection(runner="go", words=("./...",), env=(("CGO_ENABLED", "0"),)),
        ),
        (StartedTests(kind="pytest", argv=("python", "-m", "pytest"), cwd="/elsewhere"), None),
        (StartedTests(kind="pytest", argv=("pytest",), cwd="/w/checkout", words=("--collect-only",)), None),
    ],
)
def test_what_a_command_starts_is_a_selection_in_the_checkout(start: StartedTests, expected: Selection | None) -> None:
    assert selections_of((start, start), {}, HERE) == ((expected,) if expected else ())


def test_only_variables_that_were_set_on_the_way_come_with_it() -> None:
    env = {"LANG": "C", "MODE": "slow", "npm_config_x": "1", "PYTHONPATH": "/w/checkout/src", "MAKELEVEL": "1"}
    start = StartedTests(kind="pytest", argv=("pytest",), cwd="/w/checkout", env=env)
    (found,) = selections_of((start,), {"LANG": "C"}, HERE)
    assert found.env == (("MODE", "slow"), ("PYTHONPATH", "{checkout}/src"))


def test_a_word_that_names_the_checkout_names_the_next_one_as_well() -> None:
    other = Workspace(folder=Path("/v/c"), scratch=Path("/v/s"), base="")
    assert placed(portable("--out=/w/scratch/x:/w/checkout", HERE), other) == "--out=/v/s/x:/v/c"
