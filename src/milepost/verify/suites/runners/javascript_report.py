"""The reports of our JavaScript reporters, read into test cases."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.core.verdict import TestCase, TestOutcome
from milepost.verify.command_runner import last_line
from milepost.verify.suites.failure_kinds import exception_named, kind_of
from milepost.verify.suites.runners import told
from milepost.verify.walk_checkout import text_of

Redact = Callable[[str], str]

# `vitest --typecheck` keeps this beside its own code, which is read-only here; the types are checked without it.
_REFUSED_CACHE = re.compile(r"TS5033: .*/node_modules/vitest/.*\.tsbuildinfo': (?:EROFS|EACCES|EPERM)")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def cases_of(report: Mapping[str, Any], checkout: Path, redact: Redact = str) -> tuple[TestCase, ...]:
    """The cases of a report of ours; a file that could not be run is a case by its own name."""
    found: list[TestCase] = []
    tops = tuple(f"{top}/" for top in dict.fromkeys((str(checkout), os.path.realpath(checkout))))

    def tidied(text: str) -> str:
        for top in tops:
            text = text.replace(f"file://{top}", "").replace(top, "")
        return redact(text)

    for file in report["files"]:
        name = _relative(file["file"], tops)
        if file["problem"]:
            found.append(_failed(redact(name), file["problem"], tidied, during_collection=True))
        for test in file["tests"]:
            found.append(_case(name, file, test, tidied))
    return told.numbered(found)


def errors_outside(errors: list[dict[str, Any]], own_file: Path | None) -> list[dict[str, Any]]:
    """The errors outside of any test that are the project's: neither of our planted file nor of a wall."""
    return [
        error
        for error in errors
        if not (own_file and same(error["file"], own_file)) and not _REFUSED_CACHE.search(error["message"])
    ]


def _case(name: str, file: Mapping[str, Any], test: Mapping[str, Any], redact: Redact) -> TestCase:
    titles = [str(title) for title in test["titles"]]
    of_file = len(titles) == 1 and same(titles[0], Path(file["file"]))
    duration_ms = round(test["ms"] or 0)
    if of_file and test["outcome"] == "failed":
        said = file.get("said", "")
        error = {"type": exception_named(said), "message": _reason(said) or test["problem"]["message"], "stack": said}
        return replace(_failed(redact(name), error, redact, during_collection=True), duration_ms=duration_ms)
    if of_file:
        # A file that asks for the test module and ran no test ended before them.
        outcome: TestOutcome = "skipped" if "node:test" in text_of(Path(file["file"])) else test["outcome"]
        return told.case(redact(name), outcome, duration_ms=duration_ms)
    name = redact(f"{name}::{' > '.join(titles)}")
    if test["outcome"] != "failed":
        return told.case(name, test["outcome"], duration_ms=duration_ms)
    problem = test["problem"] or {"type": "", "message": "", "stack": ""}
    return replace(_failed(name, problem, redact, during_collection=False), duration_ms=duration_ms)


def _failed(name: str, problem: Mapping[str, str], redact: Redact, *, during_collection: bool) -> TestCase:
    message, stack = redact(plain(problem["message"])), redact(plain(problem["stack"]))
    kind = kind_of(problem["type"], message, stack, during_collection)
    return told.case(name, "failed", message=_headline(message), traceback=stack, kind=kind)


def _headline(message: str) -> str:
    """The message on one line, down to where the stack begins: what was expected stands below the first."""
    lines: list[str] = []
    for line in message.splitlines():
        if line.strip().startswith("at "):
            break
        lines.append(line.strip())
    return " ".join(line for line in lines[:8] if line).removeprefix("Error: ").removeprefix("AssertionError: ")


def _reason(said: str) -> str:
    """The line of node's complaint that names the error."""
    lines = [line.strip() for line in plain(said).splitlines()]
    return next((line for line in lines if exception_named(line)), last_line(said))


def plain(text: str) -> str:
    return _ESCAPES.sub("", text)


def _relative(file: str, tops: tuple[str, ...]) -> str:
    return next((file.removeprefix(top) for top in tops if file.startswith(top)), file)


def same(name: str, path: Path) -> bool:
    return bool(name) and os.path.realpath(path.parent / name) == os.path.realpath(path)
