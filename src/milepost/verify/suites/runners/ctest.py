"""Builds a CMake project outside of its checkout and runs its tests with ctest."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult
from milepost.core.verdict import TestCase
from milepost.verify.command_runner import Bench, last_line, log_of
from milepost.verify.suites import junit, report_file
from milepost.verify.suites.runners import told
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.walk_checkout import files_below, text_of

MANIFEST = "CMakeLists.txt"
FAILED = 8

_HAS_TESTS = re.compile(r"\b(?:add_test|\w+_discover_tests|\w+_add_tests)\s*\(", re.IGNORECASE)
_ENDED_BY = re.compile(r"^\s*\d+ - (?P<name>.+) \((?P<how>[^()]+)\)\s*$", re.MULTILINE)
_COMPLAINT = re.compile(r"^.*\b(?:error|undefined reference)\b.*$|^CMake Error.*$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CtestRunner:
    name: str = "ctest"

    def finds(self, folder: Path) -> bool:
        if not (folder / MANIFEST).is_file():
            return False
        return any(path.name == MANIFEST and _HAS_TESTS.search(text_of(path)) for path in files_below(folder))

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        build = workspace.scratch / f"cmake-{hashlib.sha256(folder.encode()).hexdigest()[:8]}"
        runs: list[SuiteRun] = []
        for argv in build_commands(build):
            result = bench.run(argv, workspace, cwd=folder)
            runs.append(told.run_of(argv, result, cases=_broken(result, folder)))
            if runs[-1].missing or not result.succeeded:
                return _ended(runs, result, bench)
        path = workspace.scratch / f"tests-{secrets.token_hex(8)}.xml"
        report_file.clear(path)
        argv = test_command(build, path, told.of_suite(folder, only))
        result = bench.run(argv, workspace, cwd=folder)
        runs.append(_run_from(argv, result, report_file.read(path), folder, bench))
        return told.chosen(told.combined(tuple(runs)), only)


def build_commands(build: Path) -> tuple[tuple[str, ...], ...]:
    return (
        ("cmake", "-S", ".", "-B", str(build), "-DBUILD_TESTING=ON"),
        ("cmake", "--build", str(build), "--parallel", "2"),
    )


def test_command(build: Path, path: Path, only: tuple[str, ...] = ()) -> tuple[str, ...]:
    """All tests of a build, or those of these ids relative to it."""
    test = ("ctest", "--test-dir", str(build), "--output-junit", str(path), "--output-on-failure")
    names = tuple(each.partition("::")[2] for each in only)
    return (*test, "-R", f"^({'|'.join(map(re.escape, names))})$") if names and all(names) else test


def _run_from(argv: tuple[str, ...], result: CommandResult, text: str | None, folder: str, bench: Bench) -> SuiteRun:
    if text is None or result.termination != "exited":
        none_there = result.succeeded and "No tests were found" in result.stdout + result.stderr
        return told.run_of(argv, result, problem="" if none_there else told.unfinished(argv, result, bench))
    try:
        found = junit.parse(text, bench.redact)
    except junit.JUnitInvalid as problem:
        return told.run_of(argv, result, problem=str(problem))
    cases = tuple(_renamed(case, folder, result.stdout) for case in found)
    return told.run_of(
        argv, result, cases=cases, problem=told.contradiction(result.exit_code, cases, failing=(FAILED,))
    )


def _renamed(case: TestCase, folder: str, printed: str) -> TestCase:
    """The case by the name that `add_test` gave it; how it ended stands nowhere but in what ctest prints."""
    name = case.id.partition("::")[2] or case.id
    named = replace(case, id=f"{told.within(folder, MANIFEST)}::{name}")
    if case.outcome != "failed":
        return named
    how = {found["name"]: found["how"] for found in _ENDED_BY.finditer(printed)}.get(name, "")
    if how in ("Timeout", "Not Run"):
        return replace(named, kind="timeout" if how == "Timeout" else "collection", message=named.message or how)
    crashed = how not in ("", "Failed")
    kind = "runtime" if crashed else "assertion" if named.kind == "unknown" else named.kind
    return replace(named, kind=kind, message=f"{how}: {named.message}" if crashed else named.message)


def _broken(result: CommandResult, folder: str) -> tuple[TestCase, ...]:
    """A project that cannot be configured or built is one failed case, by the file that defines it."""
    if result.termination != "exited" or result.succeeded:
        return ()
    text = f"{result.stdout}\n{result.stderr}"
    complaint = _COMPLAINT.search(text)
    message = complaint[0] if complaint else last_line(text)
    name = told.within(folder, MANIFEST)
    return (told.case(name, "failed", message=message, traceback=log_of(result), kind="collection"),)


def _ended(runs: list[SuiteRun], result: CommandResult, bench: Bench) -> SuiteRun:
    last = runs[-1]
    if result.termination != "exited" and not last.missing:
        runs[-1] = replace(last, problem=told.unfinished(last.argv, result, bench))
    return told.combined(tuple(runs))
