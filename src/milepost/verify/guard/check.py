"""The check that an attempt left the tests what they were, and the program that runs them honest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.folders import BUILT, NOT_SOURCE
from milepost.core.task import Task
from milepost.core.verdict import CheckResult
from milepost.verify.guard import fixtures, other, run_settings, settings, shell
from milepost.verify.guard.finding import GuardFinding, counted
from milepost.verify.guard.javascript import settings as javascript_settings
from milepost.verify.guard.javascript import sources as javascript_sources
from milepost.verify.guard.javascript import tests as javascript_tests
from milepost.verify.guard.python import plugins as python_plugins
from milepost.verify.guard.python import sources as python_sources
from milepost.verify.guard.python import tests as python_tests
from milepost.verify.judging.paths import CODE, JAVASCRIPT, is_test_path, suffix

_PROVING_NAME = re.compile(r"(?i)check|verif|test|valid|spec|smoke|assert|accept")
_SKIPPED_FOLDERS = NOT_SOURCE | BUILT


def findings(change: Change, task: Task) -> tuple[GuardFinding, ...]:
    """All that a change did to tests, their settings and their runner, in the order of its paths."""
    found = [
        *python_tests.weakened(change, _proving(change, task)),
        *other.weakened(change),
        *fixtures.weakened(change),
    ]
    if any(suffix(file.path) in JAVASCRIPT for file in change.files):
        found += javascript_tests.weakened(change)
    for file in change.files:
        found += _of_file(file, task)
    return tuple(dict.fromkeys(sorted(found, key=lambda finding: (finding.path, finding.line))))


def _proving(change: Change, task: Task) -> frozenset[str]:
    """The programs that the task's own `Verify:` lines run to find out, and that are not the work itself."""
    words = {word.removeprefix("./") for part in task.walk() for line in part.verify for word in line.split()}
    own = {file.removeprefix("./") for part in task.walk() for file in part.files}
    return frozenset(path for path in change.paths if path in words - own and _PROVING_NAME.search(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardCheck:
    change: Change
    task: Task

    def run(self, workspace: Workspace) -> CheckResult:
        found = findings(self.change, self.task)
        may_change = any(part.tests_may_change for part in self.task.walk())
        refused = tuple(finding for finding in found if finding.forges or not may_change)
        log = "\n".join(map(str, found))
        if refused:
            return CheckResult(name="guard", outcome="failed", summary=summary(refused), log=log)
        if found:
            noted = f"tests changed, as the task allows: {summary(found)}"
            return CheckResult(name="guard", outcome="passed", summary=noted, log=log)
        count = count_test_files(workspace.folder)
        if count == 0:
            return CheckResult(name="guard", outcome="absent", summary="there are no test files to guard")
        return CheckResult(name="guard", outcome="passed", summary=_untouched(count, self.change))


def summary(found: tuple[GuardFinding, ...]) -> str:
    """One line for a person: the worst first, and how many more there are."""
    first = next((finding for finding in found if finding.forges), found[0])
    same = [finding for finding in found if finding.path == first.path and finding.forges == first.forges]
    more = f"; and {counted(len(found) - len(same), 'other finding')}" if len(found) > len(same) else ""
    what = "; ".join(finding.what for finding in same[:2]) + (", …" if len(same) > 2 else "")
    if first.forges:
        return f"{first.path} would make tests lie: {what}{more}"
    if first.what.startswith("was "):
        return f"{first.path} {what}{more}"
    return f"{first.path} was weakened: {what}{more}"


def count_test_files(folder: Path) -> int:
    """How many files of tests a checkout has; what may not be read is not there."""
    count = 0
    for place, folders, names in os.walk(folder, onerror=None):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS]
        within = Path(place).relative_to(folder)
        paths = ((within / name).as_posix() for name in names)
        count += sum(suffix(path) in CODE and is_test_path(path) for path in paths)
    return count


def _untouched(count: int, change: Change) -> str:
    touched = sum(is_test_path(file.path) and suffix(file.path) in CODE for file in change.files)
    if touched == 0:
        return f"{counted(count, 'test file')} as {'it was' if count == 1 else 'they were'}"
    return f"{counted(count, 'test file')}, none weakened ({touched} added or extended)"


def _of_file(file: ChangedFile, task: Task) -> Iterator[GuardFinding]:
    kind = suffix(file.path)
    if kind in (".py", ".pth"):
        yield from python_plugins.steered(file)
    if kind == ".py":
        yield from python_sources.forged(file, task)
    elif kind in JAVASCRIPT:
        yield from javascript_sources.forged(file)
    yield from other.forged(file)
    yield from shell.loosened(file)
    yield from settings.loosened(file)
    yield from run_settings.loosened(file)
    yield from javascript_settings.loosened(file)
    if file.path.startswith("node_modules/") or "/node_modules/" in file.path:
        yield GuardFinding(path=file.path, line=0, what="is in the place of an installed package", forges=True)
