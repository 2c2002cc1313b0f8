from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.verdict import TestCase
from milepost.verify.suites.junit import LONGEST_MESSAGE, LONGEST_TRACEBACK, JUnitInvalid, parse

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


def test_a_failure_has_a_kind_and_the_end_of_its_traceback() -> None:
    bad, wrong, *others = parse(PYTEST_REPORT)

    assert (bad.kind, wrong.kind, wrong.traceback) == ("import", "assertion", "self = ...")
    assert bad.traceback.endswith("No module named 'nope'")
    assert {(case.kind, case.traceback) for case in others} == {(None, "")}
    long = f"<error>{'x' * 99}{' y' * 9_000} end</error>"
    (cut,) = parse(f"<testsuite><testcase classname='t' name='a'>{long}</testcase></testsuite>")
    assert len(cut.traceback.encode()) <= LONGEST_TRACEBACK
    assert cut.traceback.endswith(" end")


DIALECTS = {
    "surefire and gradle": (
        """<testsuite name="com.example.HoursTest"><properties><property name="a" value="b"/></properties>
        <testcase name="counts" classname="com.example.HoursTest" time="1,234.5">
        <failure message="expected: &lt;1&gt; but was: &lt;2&gt;" type="org.opentest4j.AssertionFailedError">
        <![CDATA[org.opentest4j.AssertionFailedError: expected: <1> but was: <2>
        at com.example.HoursTest.counts(HoursTest.java:9)]]></failure><system-out>told</system-out></testcase>
        <testcase name="breaks()" classname="com.example.HoursTest"><error type="java.lang.NullPointerException"/>
        </testcase></testsuite>""",
        [
            ("com.example.HoursTest::counts", "failed", "assertion", "expected: <1> but was: <2>"),
            ("com.example.HoursTest::breaks()", "failed", "runtime", "java.lang.NullPointerException"),
        ],
    ),
    "ctest": (
        """<testsuite name="(empty)"><testcase name="bad" classname="bad" status="fail"><failure message=""/>
        <system-out>told\nhours are wrong\n</system-out></testcase>
        <testcase name="off" classname="off" status="disabled"><system-out>Disabled</system-out></testcase>
        <testcase name="lost" classname="lost" status="notrun"><skipped message="Unable to find executable"/></testcase>
        <testcase name="odd" classname="odd" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
        </testsuite>""",
        [
            ("bad::bad", "failed", "unknown", "hours are wrong"),
            ("off::off", "skipped", None, ""),
            ("lost::lost", "failed", "unknown", "Unable to find executable"),
            ("odd::odd", "skipped", None, "SKIP_RETURN_CODE=77"),
        ],
    ),
    "vitest": (
        """<testsuites name="vitest tests"><testsuite name="tests/hours.test.js">
        <testcase classname="tests/hours.test.js" name="hours &gt; counts" time="0.003">
        <failure message="expected 120 to be 7200" type="AssertionError">AssertionError: expected 120</failure>
        </testcase></testsuite></testsuites>""",
        [("tests/hours.test.js::hours > counts", "failed", "assertion", "expected 120 to be 7200")],
    ),
    "jest-junit": (
        """<testsuites name="jest tests"><testsuite name="hours"><testcase classname="hours counts" name="hours counts">
        <failure>Error: expect(received).toBe(expected)\n at Object.toBe (a.test.js:3:1)</failure></testcase>
        </testsuite></testsuites>""",
        [("hours counts::hours counts", "failed", "assertion", "Error: expect(received).toBe(expected)")],
    ),
    "node": (
        """<testsuites><testsuite name="hours"><testsuite name="of days">
        <testcase name="counts" classname="test" file="tests/days.test.js"/></testsuite></testsuite>
        <testcase name="alone" classname="test"><failure type="testCodeFailure" message="no"/></testcase>
        </testsuites>""",
        [("tests/days.test.js::hours > of days > counts", "passed", None, ""), ("alone", "failed", "unknown", "no")],
    ),
}


@pytest.mark.parametrize(("report", "expected"), DIALECTS.values(), ids=DIALECTS)
def test_every_runners_dialect_is_understood(report: str, expected: list[tuple[str, ...]]) -> None:
    def told(case: TestCase) -> tuple[str, str, str | None, str]:
        return case.id, case.outcome, case.kind, case.message

    assert [told(case) for case in parse(report)] == expected


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
        start = time.process_time()
        assert len(parse(report)) == 1000
        return time.process_time() - start

    assert min(timed() for _ in range(5)) < 1
