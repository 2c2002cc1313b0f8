"""JUnit XML, as test runners write it, read into test cases."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

from milepost.core.verdict import TestCase, TestOutcome

LONGEST_MESSAGE = 300

_DECLARES = re.compile(r"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)
_ERROR_LINE = re.compile(r"^E\s+(\S.*)$", re.MULTILINE)
_WORST_FIRST: tuple[TestOutcome, ...] = ("failed", "passed", "skipped")


class JUnitInvalid(ValueError):
    """The text is no JUnit report that can be trusted."""


def parse(text: str, redact: Callable[[str], str] = str) -> tuple[TestCase, ...]:
    """The test cases of a report, each id once, in the report's order.

    `redact` sees every text whole, before it is cut: half a secret has no shape to know it by.
    """
    if _DECLARES.search(text):
        raise JUnitInvalid("the report declares a document type or an entity, which no test runner does")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 -- entities are refused above
    except (ElementTree.ParseError, ValueError) as problem:
        raise JUnitInvalid(f"the report is not XML: {problem}") from problem
    if root.tag not in ("testsuites", "testsuite"):
        raise JUnitInvalid(f"the report's outermost element is {root.tag[:40]!r}, not 'testsuites' or 'testsuite'")
    cases: dict[str, TestCase] = {}
    for element in root.iter("testcase"):
        case = _case(element, redact)
        known = cases.get(case.id)
        cases[case.id] = case if known is None else _worse(known, case)
    return tuple(cases.values())


def _case(element: ElementTree.Element, redact: Callable[[str], str]) -> TestCase:
    outcome, message = _outcome(element)
    return TestCase(
        id=redact(_id(element)),
        outcome=outcome,
        message=_first_line(redact(message)),
        duration_ms=_milliseconds(element.get("time", "")),
    )


def _id(element: ElementTree.Element) -> str:
    """The id as pytest writes it (`tests/test_x.py::TestA::test_b`) where the report tells enough."""
    name, classname, file = (element.get(key, "") for key in ("name", "classname", "file"))
    if not name:
        raise JUnitInvalid("the report has a test case without a name")
    file = file.replace("\\", "/")
    if not classname:
        return file or name
    module = file.removesuffix(".py").replace("/", ".")
    if file and classname == module:
        return f"{file}::{name}"
    if file and classname.startswith(f"{module}."):
        classes = classname.removeprefix(f"{module}.").replace(".", "::")
        return f"{file}::{classes}::{name}"
    return f"{classname}::{name}"


def _outcome(element: ElementTree.Element) -> tuple[TestOutcome, str]:
    for kind in ("error", "failure"):
        if (found := element.find(kind)) is not None:
            return "failed", _message(found)
    if (found := element.find("skipped")) is not None:
        return "skipped", found.get("message", "")
    return "passed", ""


def _message(found: ElementTree.Element) -> str:
    """What went wrong; a collection failure says so only in the traceback below it."""
    said, body = found.get("message", ""), found.text or ""
    if said and said != "collection failure":
        return said
    if lines := _ERROR_LINE.findall(body):
        return str(lines[-1])
    body_lines = body.strip().splitlines()
    return body_lines[-1] if body_lines else said


def _first_line(message: str) -> str:
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return line.removeprefix("AssertionError: ")[:LONGEST_MESSAGE]


def _milliseconds(seconds: str) -> int:
    try:
        return max(0, round(float(seconds) * 1000))
    except (ValueError, OverflowError):
        return 0


def _worse(one: TestCase, other: TestCase) -> TestCase:
    return min(one, other, key=lambda case: _WORST_FIRST.index(case.outcome))
