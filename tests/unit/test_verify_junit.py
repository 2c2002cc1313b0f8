from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.verify.junit import LONGEST_MESSAGE, JUnitInvalid, parse

PYTEST_REPORT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
  <testcase classname="" name="tests.test_bad" file="tests/test_bad.py" time="0.0"><error message="collection failure">
Traceback:
E   ModuleNotFoundError: No module named 'nope'</error></testcase>
  <testcase classname="tests.test_x.TestA" name="test_b[a.b]" file="tests/test_x.py" time="0.012">
    <failure message="AssertionError: expected 5400, got 90&#10;assert 90 == 5400">self = ...</failure></testcase>
  <testcase classname="tests.test_x" name="test_c" file="tests/test_x.py" time="1.5"/>
  <testcase classname="tests.test_y.TestOfBase" name="test_d" file="tests/base.py"/>
  <testcase classname="tests.test_x" name="test_s" file="tests/test_x.py"><skipped message="no network"/></testcase>
</testsuite></testsuites>"""


def test_cases_get_the_ids_that_pytest_prints_and_the_first_line_of_what_went_wrong() -> None:
    found = [(case.id, case.outcome, case.message, case.duration_ms) for case in parse(PYTEST_REPORT)]

    assert found == [
        ("tests/test_bad.py", "failed", "ModuleNotFoundError: No module named 'nope'", 0),
        ("tests/test_x.py::TestA::test_b[a.b]", "failed", "expected 5400, got 90", 12),
        ("tests/test_x.py::test_c", "passed", "", 1500),
        ("tests.test_y.TestOfBase::test_d", "passed", "", 0),
        ("tests/test_x.py::test_s", "skipped", "no network", 0),
    ]


def test_a_test_that_is_reported_twice_counts_once_with_its_worst_outcome() -> None:
    twice = (
        "<testsuite><testcase classname='t' name='a'/>"
        "<testcase classname='t' name='a'><error message='teardown'/></testcase>"
        "<testcase classname='t' name='b'><failure message='boom'/></testcase>"
        "<testcase classname='t' name='b'/></testsuite>"
    )

    assert [(case.id, case.outcome) for case in parse(twice)] == [("t::a", "failed"), ("t::b", "failed")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<testsuites>",
        "not xml",
        "<html/>",
        "<testsuite><testcase classname='a'/></testsuite>",
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite/>',
        '<?xml version="1.0"?><!doctype testsuite><testsuite/>',
        "<testsuite>\x00</testsuite>",
    ],
)
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(JUnitInvalid):
        parse(text)


@given(st.text(max_size=200))
def test_any_text_is_either_read_or_refused(text: str) -> None:
    with suppress(JUnitInvalid):
        parse(f"<testsuite>{text}</testsuite>")


def test_a_secret_is_masked_before_the_message_is_cut() -> None:
    message = "x" * (LONGEST_MESSAGE - 4) + "hunter2-hunter2"
    report = f"<testsuite><testcase classname='t' name='a'><failure message='{message}'/></testcase></testsuite>"

    (case,) = parse(report, redact=lambda text: text.replace("hunter2-hunter2", "***"))

    assert case.message.endswith("x***")


def test_a_thousand_results_are_read_in_no_time() -> None:
    case = '<testcase classname="tests.test_x.TestA" name="test_{}" file="tests/test_x.py" time="0.001"/>'
    report = "<testsuite>" + "".join(case.format(number) for number in range(1000)) + "</testsuite>"

    def timed() -> float:
        start = time.perf_counter()
        assert len(parse(report)) == 1000
        return time.perf_counter() - start

    assert min(timed() for _ in range(5)) < 0.1
