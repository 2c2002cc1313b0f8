"""The check that runs the project's own tests and compares them with how they were before the attempt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult, ending_in_words
from milepost.core.verdict import CheckResult, TestCase, TestOutcome
from milepost.verify import junit, report, unittest_driver
from milepost.verify.bench import Bench, last_line, log_of
from milepost.verify.files import listed
from milepost.verify.project import Interpreter, find_test_files, source_folder
from milepost.verify.pytest_options import report_options

NAME = "tests"
DRIVER = Path(unittest_driver.__file__)
_NO_INTERPRETER = "no Python interpreter was found for the tests"
RAN_TO_THE_END = (0, 1, 5)  # of pytest and of our driver: passed, failed, found no test


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsCheck:
    """Asks whether the tests still hold.

    `before` are the outcomes on the tree the attempt started from, None when they are unknown.
    The answer is decisive when a test that was there and did not pass passes now: a new test is
    its author's own word, unless `new_tests_count` says that the author is no model.
    """

    __test__ = False  # pytest collects classes by this prefix

    bench: Bench
    before: Mapping[str, TestOutcome] | None = None
    new_tests_count: bool = False

    def run(self, workspace: Workspace) -> CheckResult:
        interpreter = self.bench.interpreter
        if interpreter is None:
            return CheckResult(name=NAME, outcome="absent", summary=_NO_INTERPRETER)
        files = find_test_files(workspace.folder)
        if not files:
            nothing = CheckResult(name=NAME, outcome="absent", summary="the project has no tests")
            return compare(nothing, self.before)
        path = workspace.scratch / "tests-report.xml"
        report.clear(path)
        ran = self._run(interpreter, files, path, workspace)
        return compare(ran, self.before, self.new_tests_count) if ran.outcome != "failed" else ran

    def _run(self, interpreter: Interpreter, files: tuple[str, ...], path: Path, workspace: Workspace) -> CheckResult:
        env = _environment(interpreter, workspace.folder)
        if self.bench.has_pytest(interpreter, workspace):
            argv = pytest_command(interpreter.path, workspace.folder, path)
            result = self.bench.run(argv, workspace, env=env)
        else:
            argv = (str(interpreter.path), str(DRIVER), str(path))
            result = self.bench.run(argv, workspace, env=env, readable=(DRIVER,), stdin="\n".join(files))
        return self._read(argv, result, path)

    def _read(self, argv: tuple[str, ...], result: CommandResult, path: Path) -> CheckResult:
        """What the runner's report says, before it is compared with anything; `failed` when it cannot be trusted."""
        told = CheckResult(
            name=NAME,
            outcome="passed",
            summary="",
            argv=argv,
            exit_code=result.exit_code,
            log=log_of(result),
            duration_ms=result.duration_ms,
            enforced=result.enforced,
        )
        last = last_line(result.stderr) or last_line(result.stdout)
        text = report.read(path)
        if text is None or result.exit_code not in RAN_TO_THE_END:
            ending = ending_in_words(result, program=argv[0], timeout_s=self.bench.timeout_s)
            return _failed(told, f"the tests did not run to their end: {ending}{f': {last}' if last else ''}")
        try:
            cases = junit.parse(text, self.bench.redact)
        except junit.JUnitInvalid as problem:
            return _failed(told, str(problem))
        told = replace(told, cases=cases)
        if result.exit_code == 1 and not told.count("failed"):
            return _failed(told, f"exit 1, though no test failed: {last}")
        return told if cases else replace(told, outcome="absent", summary="no test was found in the test files")


def pytest_command(python: Path, folder: Path, report_path: Path) -> tuple[str, ...]:
    """All tests, whatever fails first, with nothing written into the checkout."""
    return (
        *(str(python), "-m", "pytest", "-q", "--maxfail=0", "--continue-on-collection-errors"),
        *("-o", f"cache_dir={report_path.parent / 'pytest-cache'}"),
        *report_options(folder, report_path),
    )


def outcomes(result: CheckResult) -> dict[str, TestOutcome]:
    """What a later attempt is compared with."""
    return {case.id: case.outcome for case in result.cases}


def ran_to_the_end(result: CheckResult) -> bool:
    """Whether the outcomes of a `TestsCheck` are those of all tests there are, whatever the tests said.

    False when the runner crashed, ran out of time, was ended or left no report, and where that cannot be ruled out.
    """
    if not result.argv:
        return result.summary != _NO_INTERPRETER  # there was no test to run
    return bool(result.cases) or result.outcome == "absent"


def compare(told: CheckResult, before: Mapping[str, TestOutcome] | None, new_tests_count: bool = False) -> CheckResult:
    """The answer of a run, seen against the outcomes before the attempt."""
    known = before or {}
    failed = [case for case in told.cases if case.outcome == "failed"]
    broken = [case for case in failed if known.get(case.id) != "failed"]
    if broken:
        return _failed(told, _names_failures(broken))
    if gone := _no_longer_run(told.cases, known):
        word = "1 test that was there before is" if len(gone) == 1 else f"{len(gone)} tests that were there before are"
        return _failed(told, f"{word} gone or skipped: {listed(gone)}")
    if told.outcome == "absent":
        return told
    passed = [case for case in told.cases if case.outcome == "passed"]
    fixed = [case for case in passed if _was_wrong(case, known)]
    new = [case for case in passed if case.id not in known] if before is not None else []
    return replace(
        told,
        outcome="passed",
        summary=_summary(told, failed, fixed),
        decisive=bool(fixed) or (new_tests_count and bool(new)),
    )


def _no_longer_run(cases: tuple[TestCase, ...], known: Mapping[str, TestOutcome]) -> tuple[str, ...]:
    """The tests that passed or failed before and are deleted, renamed or skipped now.

    A file that could not be imported before stands in `known` under its own name, and its tests now under theirs.
    """
    ran = {case.id for case in cases if case.outcome != "skipped"}
    files = {name.partition("::")[0] for name in ran}
    return tuple(
        name for name, outcome in known.items() if outcome != "skipped" and name not in ran and name not in files
    )


def _was_wrong(case: TestCase, known: Mapping[str, TestOutcome]) -> bool:
    """Whether the test, or its file as a whole when that could not even be imported, did not pass before."""
    if case.id in known:
        return known[case.id] != "passed"
    return known.get(case.id.partition("::")[0]) == "failed"


def _names_failures(broken: list[TestCase]) -> str:
    first = broken[0]
    said = f"{first.id}: {first.message}" if first.message else first.id
    others = tuple(case.id for case in broken[1:])
    return f"{said}; also failed: {listed(others)}" if others else said


def _summary(told: CheckResult, failed: list[TestCase], fixed: list[TestCase]) -> str:
    parts = [f"{told.count('passed')} passed"]
    if fixed:
        parts.append(f"{len(fixed)} of them did not before")
    if failed:
        parts.append(f"{len(failed)} failed before already")
    if skipped := told.count("skipped"):
        parts.append(f"{skipped} skipped")
    return ", ".join(parts)


def _failed(told: CheckResult, summary: str) -> CheckResult:
    return replace(told, outcome="failed", summary=summary)


def _environment(interpreter: Interpreter, folder: Path) -> dict[str, str]:
    entries = [str(folder / entry) for entry in interpreter.imports]
    if (source := source_folder(folder)) is not None:
        entries.append(str(source))
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    return {**env, "PYTHONPATH": os.pathsep.join(dict.fromkeys(entries))} if entries else env
