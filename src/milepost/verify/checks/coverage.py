"""The check that the tests run enough of the lines that an attempt changed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.commands import CommandResult
from milepost.core.verdict import CheckOutcome, CheckResult
from milepost.sources.diff import added_lines
from milepost.sources.python_modules import is_test_path
from milepost.verify.checks.tool_findings import printable
from milepost.verify.command_runner import Bench, log_of
from milepost.verify.programs.project_tools import answer, plain_files, relative, text_of, why_not
from milepost.verify.programs.python_modules import import_roots
from milepost.verify.suites import report_file
from milepost.verify.suites.python_project import ProjectPython, find_test_files

NAME = "coverage"
NOT_INSTALLED = 42
MOST_SHOWN = 5

_SETTINGS = {".coveragerc": "[", "setup.cfg": "[coverage:", "tox.ini": "[coverage:", "pyproject.toml": "[tool.coverage"}
# coverage and pytest are imported before the checkout is on the path: no file of an agent's can stand in for them.
_RUN = f"""
import importlib.util, json, sys
try:
    from coverage.cmdline import main
except ImportError:
    sys.exit({NOT_INSTALLED})
roots, argv = json.loads(sys.argv[1]), sys.argv[2:]
if argv[-1] == "pytest":
    import pytest
    argv += ["-q", "-p", "no:cacheprovider"]
    argv += ["--no-cov"] if importlib.util.find_spec("pytest_cov") else []
    argv += ["-n0"] if importlib.util.find_spec("xdist") else []
sys.path[:0] = roots
sys.exit(main(argv))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """Of the changed lines that can be run: how many there are, and for each file those that no test ran."""

    total: int
    missed: Mapping[str, tuple[int, ...]]

    @property
    def ratio(self) -> float:
        return 1.0 if self.total == 0 else 1 - sum(map(len, self.missed.values())) / self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageCheck:
    """Runs the project's tests once more, under coverage. Without a `threshold` nothing is asked.

    The settings of coverage are those of the base: an attempt cannot leave its own files out.
    """

    change: Change
    bench: Bench
    threshold: float | None = None

    def run(self, workspace: Workspace) -> CheckResult:
        if self.threshold is None:
            return answer(NAME, "absent", "no minimum coverage is set")
        changed = changed_lines(self.change)
        if not changed or self.bench.interpreter is None:
            why = "no line of Python outside the tests was changed" if not changed else "there is no Python interpreter"
            return answer(NAME, "absent", why)
        with tempfile.TemporaryDirectory(dir=workspace.scratch, prefix="coverage-") as place:
            argv, ran = self._measure(Path(place), self.bench.interpreter, workspace)
            output = report_file.read(Path(place, "coverage.json"))
        measured = read_coverage(output or "", workspace.folder)
        if ran[0].exit_code == NOT_INSTALLED:
            return answer(NAME, "absent", "coverage is not installed in the project's environment", results=ran)
        outcome: CheckOutcome = "failed"
        if measured is None:
            why = why_not(ran[0] if not ran[0].succeeded else ran[-1], "coverage", self.bench.timeout_s)
            said = f"coverage could not be measured: {why}"
        else:
            outcome, said = judged(covered(changed, measured), self.threshold)
        return answer(NAME, outcome, said, bench=self.bench, argv=argv, results=ran, log=log_of(ran[0]))

    def _measure(
        self, place: Path, interpreter: ProjectPython, workspace: Workspace
    ) -> tuple[tuple[str, ...], tuple[CommandResult, ...]]:
        """Run the tests, gather what processes of theirs measured, and have it written down."""
        roots = [str(workspace.folder / root) for root in import_roots(workspace.folder, interpreter.imports)]
        settings = f"--rcfile={_settings(self.change, workspace.folder, place)}"
        data = f"--data-file={place / 'data'}"
        with_pytest = self.bench.has_pytest(interpreter, workspace)
        tests = ("pytest",) if with_pytest else ("unittest", "-q", *find_test_files(workspace.folder))
        start = (str(interpreter.path), "-I", "-B", "-c", _RUN, json.dumps([str(workspace.folder), *roots]))
        env = {"PYTHONPATH": os.pathsep.join(roots), "PYTHONDONTWRITEBYTECODE": "1"}
        argv = (*start, "run", settings, data, "--source=.", "-m", *tests)
        first = self.bench.run(argv, workspace, env=env)
        if first.exit_code == NOT_INSTALLED or first.termination != "exited":
            return argv, (first,)
        if not (place / "data").exists():
            self.bench.run((*start, "combine", settings, data, str(place)), workspace, env=env)
        written = (
            *start,
            "json",
            settings,
            data,
            "--ignore-errors",
            "--fail-under=0",
            "-o",
            str(place / "coverage.json"),
        )
        return argv, (first, self.bench.run(written, workspace, env=env))


def changed_lines(change: Change) -> dict[str, frozenset[int]]:
    """The numbers of the lines that were added or changed in each Python file that is no test."""
    found: dict[str, frozenset[int]] = {}
    for file in plain_files(change):
        if file.path.endswith(".py") and not is_test_path(file.path):
            lines = added_lines(file.text_before, file.text_after)
            if lines:
                found[file.path] = lines
    return found


def covered(
    changed: Mapping[str, frozenset[int]], measured: Mapping[str, tuple[frozenset[int], frozenset[int]]]
) -> Covered:
    """What was run of the changed lines; `measured` has, by file, the lines that ran and those that did not."""
    total, missed = 0, {}
    for path, lines in changed.items():
        ran, not_run = measured.get(path, (frozenset(), frozenset()))
        total += len(lines & (ran | not_run))
        if lines & not_run:
            missed[path] = tuple(sorted(lines & not_run))
    return Covered(total=total, missed=missed)


def read_coverage(text: str, checkout: Path) -> dict[str, tuple[frozenset[int], frozenset[int]]] | None:
    """The lines that were run and those that were not, by file, of coverage's JSON; None when it is none."""
    try:
        files = json.loads(text)["files"]
        return {
            relative(path, checkout): (frozenset(facts["executed_lines"]), frozenset(facts["missing_lines"]))
            for path, facts in files.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def judged(found: Covered, threshold: float) -> tuple[CheckOutcome, str]:
    """Whether enough was run, with the lines that were not."""
    if found.total == 0:
        return "absent", "no changed line can be run"
    said = f"{found.ratio * 100:.0f} % of {found.total} changed lines"
    if found.ratio >= threshold:
        return "passed", said
    lines = [f"{printable(path)}: {in_ranges(numbers)}" for path, numbers in found.missed.items()]
    shown = "; ".join(lines[:MOST_SHOWN]) + ("; …" if len(lines) > MOST_SHOWN else "")
    return "failed", f"{said}, {threshold * 100:.0f} % are required; no test runs {shown}"


def in_ranges(numbers: Iterable[int]) -> str:
    """`12–15, 20`."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}–{high}" for low, high in ranges)


def _settings(change: Change, checkout: Path, place: Path) -> Path:
    """The settings of coverage as they were at the base, an empty file where there were none."""
    files = {file.path: file for file in change.files}
    for name, sign in _SETTINGS.items():
        before = files[name].text_before if name in files else text_of(checkout, name) or ""
        if sign in before:
            (place / name).write_text(before)
            return place / name
    (place / ".coveragerc").write_text("")
    return place / ".coveragerc"
