"""JUnit XML, as test runners write it, read into test cases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

from milepost.core.verdict import TestCase, TestOutcome
from milepost.verify.command_runner import tail
from milepost.verify.suites.failure_kinds import exception_named, kind_of

LONGEST_MESSAGE = 300
LONGEST_TRACEBACK = 4_000

_DECLARES = re.compile(r"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)
_ERROR_LINE = re.compile(r"^E\s+(\S.*)$", re.MULTILINE)
_WORST_FIRST: tuple[TestOutcome, ...] = ("failed", "passed", "skipped")
_DURING_COLLECTION = "collection failure"
_SAYS_NOTHING = ("", "Failed", _DURING_COLLECTION)
_LEFT_OUT = ("disabled", "notrun")  # of ctest and googletest, which write no `skipped` then
_NOT_THERE = "Unable to find executable"  # ctest counts the test as failed and writes it as skipped
_NODES_CLASSES = ("test", "suite")  # what node writes as `classname`, whatever the test


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
    for element, suites in _elements(root):
        case = _case(element, suites, redact)
        known = cases.get(case.id)
        cases[case.id] = case if known is None else _worse(known, case)
    return tuple(cases.values())


def _elements(root: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, tuple[str, ...]]]:
    """The test cases of a report in its order, each with the names of the suites around it."""
    todo: list[tuple[ElementTree.Element, tuple[str, ...]]] = [(root, ())]
    while todo:
        element, suites = todo.pop()
        if element.tag == "testcase":
            yield element, suites
        else:
            inside = (*suites, element.get("name", "")) if element.tag == "testsuite" else suites
            todo.extend((child, inside) for child in reversed(element) if child.tag.startswith("test"))


def _case(element: ElementTree.Element, suites: tuple[str, ...], redact: Callable[[str], str]) -> TestCase:
    name = redact(_id(element, suites))
    duration_ms = _milliseconds(element.get("time", ""))
    found = next((found for kind in ("error", "failure") if (found := element.find(kind)) is not None), None)
    skipped = element.find("skipped")
    if found is None and skipped is not None and skipped.get("message", "").startswith(_NOT_THERE):
        found = skipped
    if found is None:
        left = skipped is not None or element.get("status") in _LEFT_OUT
        reason = _first_line(redact(skipped.get("message", ""))) if skipped is not None else ""
        return TestCase(id=name, outcome="skipped" if left else "passed", message=reason, duration_ms=duration_ms)
    traceback = redact(found.text or "").strip("\n") or redact(element.findtext("system-out") or "").strip("\n")
    message = redact(_message(found)) or _telling_line(traceback) or redact(found.get("type", ""))
    during_collection = found.get("message") == _DURING_COLLECTION
    exception = found.get("type", "") or exception_named(message)
    return TestCase(
        id=name,
        outcome="failed",
        message=_first_line(message),
        duration_ms=duration_ms,
        kind=kind_of(exception, message, traceback, during_collection),
        traceback=tail(traceback, LONGEST_TRACEBACK),
    )


def _id(element: ElementTree.Element, suites: tuple[str, ...]) -> str:
    """The id as pytest writes it (`tests/test_x.py::TestA::test_b`) where the report tells enough."""
    name, classname, file = (element.get(key, "") for key in ("name", "classname", "file"))
    if not name:
        raise JUnitInvalid("the report has a test case without a name")
    file = file.replace("\\", "/")
    if not classname:
        return file or name
    if classname in _NODES_CLASSES:
        titles = " > ".join((*(suite for suite in suites if suite), name))
        return f"{file}::{titles}" if file else titles
    module = file.removesuffix(".py").replace("/", ".")
    if file and classname == module:
        return f"{file}::{name}"
    if file and classname.startswith(f"{module}."):
        classes = classname.removeprefix(f"{module}.").replace(".", "::")
        return f"{file}::{classes}::{name}"
    return f"{classname}::{name}"


def _message(found: ElementTree.Element) -> str:
    """What went wrong; a collection failure says so only in the traceback below it."""
    said, body = found.get("message", ""), found.text or ""
    if said not in _SAYS_NOTHING:
        return said
    if lines := _ERROR_LINE.findall(body):
        return str(lines[-1])
    return _telling_line(body) or ("" if said == "Failed" else said)


def _first_line(message: str) -> str:
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return line.removeprefix("AssertionError: ")[:LONGEST_MESSAGE]


def _telling_line(text: str) -> str:
    """The line that names an exception, or else the last that is not of a stack."""
    lines = [line for each in text.splitlines() if (line := each.strip()) and not line.startswith("at ")]
    return next((line for line in lines if exception_named(line)), lines[-1] if lines else "")


def _milliseconds(seconds: str) -> int:
    try:
        return max(0, round(float(seconds.replace(",", "")) * 1000))
    except (ValueError, OverflowError):
        return 0


def _worse(one: TestCase, other: TestCase) -> TestCase:
    return min(one, other, key=lambda case: _WORST_FIRST.index(case.outcome))
