"""What a verdict rests on is said beside it, and nothing is said where there is nothing to say."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.approval import verdict_words
from milepost.core.basis import basis_lines, exit_codes_alone, own_tests
from milepost.core.verdict import CheckResult, judge

DONE = CheckResult(name="done", outcome="passed", summary="by its own tests: t.py::a", decisive=True)
STRENGTH = CheckResult(name="own tests", outcome="passed", summary="by its own tests, which catch 3 of 4 faults")
LINE = CheckResult(name="verify", outcome="passed", summary="`make check` exit 0: exit code alone, no test is seen")


def test_files_of_the_base_and_added_ones_are_named_by_number_and_path() -> None:
    evidence = judge("t", (CheckResult(name="tests", outcome="passed", summary="3 passed", decisive=True),))
    assert basis_lines(evidence) == ()
    one = replace(evidence, from_base=("conftest.py",), left_out=("a.bin", "b.bin"))
    assert basis_lines(one) == (
        "taken with this file as it was at the base: conftest.py",
        "taken without these 2 added files: a.bin, b.bin",
    )
    many = replace(evidence, from_base=tuple(f"t{number}.py" for number in range(10)))
    assert basis_lines(many)[0].startswith("taken with these 10 files as they were at the base: t0.py, t1.py")
    assert basis_lines(many)[0].endswith("t7.py and 2 more")


def test_own_tests_are_told_with_their_strength_and_in_the_verdict() -> None:
    assert own_tests(judge("t", (DONE, STRENGTH))) == STRENGTH.summary
    assert own_tests(judge("t", (DONE,))) == DONE.summary
    assert verdict_words(judge("t", (DONE, STRENGTH))) == "passed, by its own tests"
    others = CheckResult(name="own tests", outcome="absent", summary="others than its own tests decide")
    by_others = CheckResult(name="done", outcome="passed", summary="shown by tests: 3 passed", decisive=True)
    assert own_tests(judge("t", (by_others, others))) == ""
    assert verdict_words(judge("t", (by_others, others))) == "passed"


def test_a_command_without_a_test_in_it_is_told_as_its_exit_code_alone() -> None:
    assert exit_codes_alone(judge("t", (LINE,))) == (LINE.summary,)
    assert exit_codes_alone(judge("t", (replace(LINE, outcome="failed"),))) == ()
