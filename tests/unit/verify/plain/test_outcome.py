"""What plain runs come to."""

from __future__ import annotations

import pytest

from milepost.core.verdict import CheckOutcome
from milepost.verify.plain.outcome import FileOutcome, Unit, judged, weighed
from milepost.verify.plain.run import ENDED, PlainRun, Word

CONTROL = Unit(place="test_old", ids=("t.py::test_old",), decides=False)
DECIDING = Unit(place="test_new", ids=("t.py::test_new[1]", "t.py::test_new[2]"), decides=True)


def run(new: Word, old: Word = "passed") -> PlainRun:
    return PlainRun(endings={"test_new": (new, "1 == 2"), "test_old": (old, "said")})


@pytest.mark.parametrize(
    ("first", "again", "outcome"),
    [
        (run("passed"), PlainRun(), "passed"),
        (run("failed"), run("failed"), "failed"),
        (run("failed"), run("passed"), "passed"),
        (run("broke"), run("broke"), "held"),
        (run("failed"), run("broke"), "held"),
        (run("failed", "unfit"), run("failed", "unfit"), "held"),
        (run("failed", "failed"), run("failed", "failed"), "absent"),
        (run("failed", "failed"), run("failed"), "failed"),
        (run("apart"), run("apart"), "absent"),
        (PlainRun(problem="No module named 'x'"), PlainRun(), "absent"),
        (PlainRun(endings=dict.fromkeys(("test_new", "test_old"), ("broke", ENDED))), PlainRun(), "held"),
    ],
)
def test_what_fails_twice_beside_a_control_that_passes_is_refused(
    first: PlainRun, again: PlainRun, outcome: CheckOutcome
) -> None:
    found = judged([weighed("t.py", (CONTROL, DECIDING), first, again)])

    assert found.outcome == outcome, found
    assert not found.needed


def test_where_some_pass_a_person_is_asked_about_the_others() -> None:
    found = judged(
        [
            FileOutcome(path="a", passed=("a::x",)),
            FileOutcome(path="b", failed=("b::y",), controlled=True, said="1 == 2"),
        ]
    )

    assert found.outcome == "held"
    assert found.summary == "without a test runner: b::y fails, which passes under one (1 == 2)"
    assert [(one.kind, one.path) for one in found.questions] == [("counter-proof", "b")]


def test_where_nothing_decides_there_is_nothing_to_ask() -> None:
    assert judged([]).summary == "without a test runner: nothing could be run: no deciding test is plain"
