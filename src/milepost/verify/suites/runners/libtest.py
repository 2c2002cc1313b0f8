"""The text that Rust's own test harness prints, read into tests: it has no other format on its stable channel."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from milepost.core.verdict import TestOutcome

_RUNNING = re.compile(r"^ +Running (?:unittests )?(?P<path>\S.*?) \((?P<program>[^()]+)\)$")
_DOCTESTS = re.compile(r"^ +Doc-tests (?P<crate>\S+)$")
_BEGIN = re.compile(r"^running (?P<count>\d+) tests?$")
_TEST = re.compile(
    r"^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<end>ok|FAILED|ignored(?:, .*)?)(?: <[\d.]+s>)?$"
)
_END = re.compile(
    r"^test result: (?:ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored; "
    r"(?P<measured>\d+) measured; \d+ filtered out"
)
_FAILURE = re.compile(r"^---- (?P<name>.+?) std(?:out|err) ----$")
_PROGRAM_FAILED = "error: test failed, to rerun pass"
_LINE_NUMBER = re.compile(r" \(line \d+\)$")


@dataclass(slots=True)
class ProgramOutput:
    """What one test program printed: `program` is its path, `crate` is set for the tests in a crate's documentation.

    `finished` means that all the tests it announced have ended, `failed` that cargo says so of the program.
    """

    program: str = ""
    crate: str = ""
    expected: int | None = None
    tests: list[tuple[str, TestOutcome, str]] = field(default_factory=list)
    said: dict[str, list[str]] = field(default_factory=dict)
    finished: bool = False
    failed: bool = False

    def failure(self, name: str) -> str:
        return "\n".join(self.said.get(name, [])).strip("\n")


def read(lines: Iterable[str]) -> tuple[ProgramOutput, ...]:
    """The sections of `cargo test`, both of its streams in one."""
    found: list[ProgramOutput] = []
    failing = ""
    for line in lines:
        if header := _RUNNING.match(line) or _DOCTESTS.match(line):
            named = header.groupdict()
            found.append(ProgramOutput(program=named.get("program", ""), crate=named.get("crate", "")))
            failing = ""
        elif found:
            failing = _take(found[-1], line, failing)
    return tuple(found)


def plain_doctest(name: str) -> str:
    """The name of a test in the documentation without its line, which moves with every edit above it."""
    return _LINE_NUMBER.sub("", name)


def _take(section: ProgramOutput, line: str, failing: str) -> str:
    """Add a line to its section; gives the name of the failed test whose output follows."""
    section.failed |= line.startswith(_PROGRAM_FAILED)
    if section.finished:
        return ""
    if begin := _BEGIN.match(line):
        section.expected = int(begin["count"])
    elif end := _END.match(line):
        counts = {outcome: int(end[key]) for key, outcome in _COUNTED.items()}
        told = {outcome: sum(each == outcome for _, each, _ in section.tests) for outcome in _COUNTED.values()}
        section.finished = counts == told and section.expected == sum(counts.values()) + int(end["measured"])
        return ""
    elif header := _FAILURE.match(line):
        section.said[header["name"]] = []
        return header["name"]
    elif failing and line != "failures:":
        section.said[failing].append(line)
        return failing
    elif test := _TEST.match(line):
        outcome: TestOutcome = _OUTCOMES.get(test["end"], "skipped")
        section.tests.append((test["name"], outcome, test["end"].partition(", ")[2]))
    return ""


_OUTCOMES: dict[str, TestOutcome] = {"ok": "passed", "FAILED": "failed"}
_COUNTED: dict[str, TestOutcome] = {"passed": "passed", "failed": "failed", "ignored": "skipped"}
