from __future__ import annotations

from collections.abc import Mapping

import pytest

from milepost.core.verdict import CheckResult, TestCase, TestOutcome
from milepost.verify.checks.tests import compare
from milepost.verify.suites.pairing import paired

Tests = Mapping[str, tuple[str, TestOutcome]]
BASE: Tests = {"t[a0]": ("one", "passed"), "t[a1]": ("two", "failed"), "t[a2]": ("three", "passed")}


def compared(now: Tests, base: Tests = BASE) -> CheckResult:
    cases = tuple(TestCase(id=name, outcome=outcome, parameters=told) for name, (told, outcome) in now.items())
    before = {name: outcome for name, (_, outcome) in base.items()}
    pairing = paired(cases, before, {name: told for name, (told, _) in base.items() if told})
    return compare(CheckResult(name="tests", outcome="passed", summary="", cases=cases), pairing.before)


def those(*told: tuple[str, TestOutcome]) -> Tests:
    return {f"t[a{number}]": each for number, each in enumerate(told)}


@pytest.mark.parametrize(
    ("now", "outcome", "decisive"),
    [
        pytest.param(
            (("one", "passed"), ("new", "passed"), ("two", "passed"), ("three", "passed")),
            *("passed", True),
            id="one more between the others",
        ),
        pytest.param(
            (("three", "passed"), ("two", "passed"), ("one", "passed")), "passed", True, id="in another order"
        ),
        pytest.param(
            (("one", "passed"), ("new", "passed"), ("two", "failed"), ("three", "passed")),
            *("passed", False),
            id="what failed still does and its number is no credit for another",
        ),
        pytest.param(
            (("one", "passed"), ("new", "failed"), ("two", "passed"), ("three", "passed")),
            *("failed", False),
            id="a new one fails under the number of one that did",
        ),
        pytest.param((("one", "passed"), ("three", "passed")), "failed", False, id="one is gone"),
        pytest.param(
            (("one", "passed"), ("three", "passed"), ("easy", "passed")), "failed", False, id="one gave way to another"
        ),
        pytest.param(
            (("one", "passed"), ("easy", "passed"), ("two", "skipped"), ("three", "passed")),
            *("failed", False),
            id="one is skipped under another number",
        ),
        pytest.param(
            (("one", "passed"), ("one", "passed"), ("three", "passed")), "failed", False, id="one is told twice instead"
        ),
        pytest.param(
            (("one", "passed"), ("other", "passed"), ("three", "passed")), "passed", True, id="new each time: by id"
        ),
        pytest.param((("", "passed"), ("", "passed"), ("", "passed")), "passed", True, id="not to be told: by id"),
        pytest.param((("", "passed"), ("", "passed")), "failed", False, id="not to be told, and one is gone"),
    ],
)
def test_a_parametrised_test_is_found_again_by_what_it_is_called_with(
    now: tuple[tuple[str, TestOutcome], ...], outcome: str, decisive: bool
) -> None:
    result = compared(those(*now))

    assert (result.outcome, result.decisive) == (outcome, decisive), result.summary


def test_tests_with_the_same_parameters_are_found_again_in_their_order() -> None:
    base = those(("same", "failed"), ("same", "passed"))

    assert compared(those(("new", "passed"), ("same", "passed"), ("same", "passed")), base).decisive
    assert compared(those(("new", "passed"), ("same", "failed"), ("same", "passed")), base).outcome == "passed"
    assert compared(those(("new", "passed"), ("same", "passed"), ("same", "failed")), base).outcome == "failed"
    assert compared(those(("new", "passed"), ("same", "passed")), base).outcome == "failed"


def test_one_that_lost_its_number_is_named_by_what_it_was() -> None:
    result = compared(those(("one", "passed"), ("three", "passed"), ("easy", "passed")))

    assert result.summary == "1 test that was there before is gone or skipped: t[a1] with the parameters it had"


def test_the_base_is_asked_by_its_own_ids_and_never_about_a_new_test() -> None:
    cases = [TestCase(id=name, outcome="passed", parameters=told) for name, told in (("t[a0]", "x"), ("t[a1]", "one"))]
    pairing = paired(cases, {"t[a0]": "failed", "u": "passed"}, {"t[a0]": "one"})

    assert [pairing.at_base(name) for name in ("t[a0]", "t[a1]", "u")] == ["", "t[a0]", "u"]
    assert pairing.asked(frozenset, ("t[a1]", "u")) == {"t[a1]", "u"}
    assert pairing.before == {"t[a1]": "failed", "u": "passed"}


def test_a_test_whose_id_holds_the_time_of_the_run_is_found_again() -> None:
    early, late = (f"tests/test_dates.py::test_bad[{time} 2026-11-18]" for time in ("07:44:58", "09:01:12"))
    case = TestCase(id=late, outcome="passed", parameters="b")

    pairing = paired((case,), {early: "failed"}, {early: "a"})

    assert pairing.before == {late: "failed"}
    assert pairing.at_base(late) == early


def test_a_test_with_another_parameter_is_another_test() -> None:
    case = TestCase(id="tests/test_sums.py::test_sum[4]", outcome="passed", parameters="b")

    pairing = paired((case,), {"tests/test_sums.py::test_sum[3]": "failed"}, {"tests/test_sums.py::test_sum[3]": "a"})

    assert pairing.before == {"tests/test_sums.py::test_sum[3]": "failed"}
    assert pairing.at_base(case.id) == ""
