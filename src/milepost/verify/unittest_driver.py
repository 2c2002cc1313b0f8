"""Runs unittest tests with the project's own interpreter and writes a JUnit report.

    python unittest_driver.py REPORT < names of test files, one a line

It needs nothing but the standard library, and may be run by an older Python than Milepost's.
"""
# ruff: noqa: N802 -- unittest named the methods

from __future__ import annotations

import sys

if __name__ == "__main__":
    del sys.path[0]  # this file's own folder: its neighbours would hide the project's `tests`

import importlib
import re
import time
import traceback
import unittest
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

NOTHING_RAN = 5

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def main(report: str, files: list[str]) -> int:
    """Run the tests of `files` and write the report; 0 passed, 1 failed, 5 when there were none."""
    sys.path.insert(0, str(Path.cwd()))
    suite = ElementTree.Element("testsuite", name="unittest")
    for file in files:
        run_file(file, suite)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    failed = sum(case.find("failure") is not None for case in suite)
    print(f"Ran {len(suite)} tests, {failed} failed", file=sys.stderr)  # noqa: T201 -- a program of its own
    ElementTree.ElementTree(root).write(report, encoding="utf-8", xml_declaration=True)
    if not len(suite):
        return NOTHING_RAN
    return 1 if failed else 0


def run_file(file: str, suite: ElementTree.Element) -> None:
    """Import one file as a test module and add its cases to the suite; a failed import is a failed case."""
    module = file[: -len(".py")].replace("/", ".")
    try:
        tests = unittest.defaultTestLoader.loadTestsFromModule(import_file(file))
    except unittest.SkipTest as skipped:
        add_case(suite, file, "", module, "skipped", str(skipped))
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        traceback.print_exc()
        add_case(suite, file, "", module, "failure", describe(problem))
    else:
        tests.run(Reporter(suite, file, module))


def import_file(file: str) -> ModuleType:
    """The module of a file, named from the nearest folder that is not a package."""
    path = Path(file).resolve()
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    module = importlib.import_module(".".join(parts))
    if module.__file__ is None or Path(module.__file__).resolve() != path:
        raise ImportError(f"{module.__name__} is {module.__file__}: two test files share the name")
    return module


class Reporter(unittest.TestResult):
    """Writes each test's end as a `testcase` element."""

    def __init__(self, suite: ElementTree.Element, file: str, module: str) -> None:
        super().__init__()
        self.suite = suite
        self.file = file
        self.module = module
        self.started = time.monotonic()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.started = time.monotonic()

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.add(test, "passed", "")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.add(test, "skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        self.add(test, "skipped", "expected failure")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self.add(test, "failure", "passed, but was expected to fail")

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        self.add_problem(test, err)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        self.add_problem(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        if err is not None:
            self.add_problem(test, err)

    def add_problem(self, test: object, err: Any) -> None:
        traceback.print_exception(*err)
        self.add(test, "failure", describe(err[1]))

    def add(self, test: object, outcome: str, message: str) -> None:
        """A test may be added twice (a failed subtest, a failed clean-up): the reader takes the worst."""
        if isinstance(test, unittest.TestCase):
            method = getattr(test, "_testMethodName", str(test))
            classname = f"{self.module}.{type(test).__qualname__}"
        else:  # setUpClass or setUpModule failed: unittest reports a stand-in that is no test
            method, classname = str(test), self.module
        add_case(self.suite, self.file, classname, method, outcome, message, time.monotonic() - self.started)


def add_case(
    suite: ElementTree.Element,
    file: str,
    classname: str,
    name: str,
    outcome: str,
    message: str,
    seconds: float = 0.0,
) -> None:
    names = {"classname": classname, "name": name, "file": file, "time": f"{seconds:.3f}"}
    case = ElementTree.SubElement(suite, "testcase", {key: plain(value) for key, value in names.items()})
    if outcome != "passed":
        ElementTree.SubElement(case, outcome, message=plain(message))


def describe(problem: BaseException) -> str:
    text = str(problem)
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def plain(text: str) -> str:
    """The text without the characters that XML has no way to say."""
    return _NOT_XML.sub("?", text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.stdin.read().splitlines()))
