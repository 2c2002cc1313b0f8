"""What the tests of a line say, seen against the base."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from milepost.core.verdict import CheckOutcome, TestCase
from milepost.verify.selection.at_base import LineAtBase, from_json
from milepost.verify.selection.judgement import judged
from milepost.verify.selection.selection import NOT_THERE, Selection
from milepost.verify.suites.suite import SuiteRun


def run(*cases: TestCase, problem: str = "", missing: str = "") -> SuiteRun:
    return SuiteRun(argv=(), exit_code=0, cases=cases, problem=problem, missing=missing)


def passed(name: str) -> TestCase:
    return TestCase(id=name, outcome="passed")


def failed(name: str, message: str = "1 != 2") -> TestCase:
    return TestCase(id=name, outcome="failed", message=message)


def skipped(name: str, message: str = "") -> TestCase:
    return TestCase(id=name, outcome="skipped", message=message)


def base(*cases: TestCase, outcome: CheckOutcome = "failed", **more: object) -> LineAtBase:
    return replace(LineAtBase(outcome=outcome, cases=cases), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("now", "before", "outcome", "mended"),
    [
        (run(passed("t.py::a")), base(failed("t.py::a")), "passed", 1),
        (run(passed("t.py::a")), base(passed("t.py::a"), outcome="passed"), "passed", 0),
        (run(passed("t.py::a")), base(failed("t.py")), "passed", 1),
        (run(passed("t.py::a"), passed("t.py::b")), base(passed("t.py::a"), outcome="passed"), "passed", 1),
        (run(passed("t.py::a[12:03]")), base(passed("t.py::a[11:59]"), outcome="passed"), "passed", 0),
        (run(passed("t.py::a")), None, "passed", 0),
        (run(failed("t.py::a")), None, "failed", 0),
        (run(failed("t.py::a")), base(failed("t.py::a")), "failed", 0),
        (run(failed("t.py::a"), passed("t.py::b")), base(passed("t.py::a"), failed("t.py::b")), "failed", 1),
        (run(failed("t.py::a"), passed("t.py::b")), base(failed("t.py::a"), failed("t.py::b")), "held", 1),
        (run(failed("t.py::a", "at 0x1f"), passed("b")), base(failed("t.py::a", "at 0x2e"), failed("b")), "held", 1),
        (run(failed("t.py::a", "else"), passed("t.py::b")), base(failed("t.py::a"), failed("t.py::b")), "failed", 1),
        (run(passed("t.py::b")), base(failed("t.py::a"), failed("t.py::b")), "failed", 1),
        (run(skipped("t.py::a"), passed("t.py::b")), base(failed("t.py::a"), passed("t.py::b")), "failed", 0),
        (run(skipped("t.py"), passed("u.py::b")), base(failed("t.py"), passed("u.py::b")), "failed", 0),
        (run(passed("clock::TestA")), base(failed("clock"), failed("src/lib.rs")), "passed", 1),
        (run(passed("tests/test_new.py::a")), base(failed("tests.test_new", NOT_THERE)), "passed", 1),
        (run(), base(), "failed", 0),
        (run(skipped("t.py::a", "deselected")), base(), "failed", 0),
        (run(skipped("t.py::a")), base(), "failed", 0),
        (run(problem="it crashed"), base(failed("t.py::a")), "failed", 0),
        (run(problem="it crashed"), base(problem="it crashed"), "absent", 0),
        (run(failed("t.py::a")), base(problem="no such module"), "absent", 0),
        (run(passed("t.py::a")), base(problem="no such module"), "passed", 1),
        (run(missing="go is not installed"), base(), "absent", 0),
        (run(failed("t.py::a"), passed("b")), base(failed("t.py::a"), passed("b"), excused=("t.py::a",)), "passed", 0),
        (run(replace(failed("t.py::a"), flaky=True), passed("b")), base(passed("t.py::a"), passed("b")), "passed", 0),
    ],
)
def test_tests_are_judged_by_what_they_were(
    now: SuiteRun, before: LineAtBase | None, outcome: CheckOutcome, mended: int
) -> None:
    found = judged(now, before)
    assert (found.outcome, len(found.mended), found.needed) == (outcome, mended, outcome == "absent")
    assert bool(found.questions) is (outcome == "held")


def test_what_is_known_of_a_line_can_be_kept() -> None:
    selection = Selection(
        runner="jest", words=("-t", "a"), folder="web", env=(("A", "b"),), node_words=("--import", "x")
    )
    line = base(
        failed("t.py::a"),
        selections=(selection,),
        opened=("a.txt",),
        opens_known=True,
        excused=("t.py::b",),
        unseen="no",
    )
    assert from_json(json.loads(json.dumps(line.to_json()))) == line
