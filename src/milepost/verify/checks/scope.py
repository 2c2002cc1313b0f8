"""The check that a change stays where the task may work, and of a size that somebody can read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import LARGEST_READ, Change
from milepost.core.own_files import SETTINGS_FILE
from milepost.core.task import Task
from milepost.core.verdict import CheckResult
from milepost.verify.checks.does_anything import is_named
from milepost.verify.checks.files import counted, listed
from milepost.verify.judging.links import leads_out
from milepost.verify.judging.paths import CODE, is_of_environment, is_test_setting, name_of, suffix


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeCheck:
    """`most_files` and `largest_bytes` are off at 0. `by_hand` means that the change is the user's own."""

    change: Change
    task: Task
    by_hand: bool = False
    most_files: int = 0
    largest_bytes: int = 0

    def run(self, workspace: Workspace) -> CheckResult:
        problems = [*self._problems(), *_unread(self.change, workspace.folder)]
        if problems:
            return CheckResult(name="scope", outcome="failed", summary="; ".join(problems), log="\n".join(problems))
        allowed = _allowed(self.task)
        if not allowed and not self.most_files and not self.largest_bytes:
            return CheckResult(name="scope", outcome="absent", summary="the task sets no limits to the change")
        return CheckResult(
            name="scope", outcome="passed", summary=f"{counted(self.change.paths)} within the task's limits"
        )

    def _problems(self) -> list[str]:
        links = tuple(file.path for file in self.change.files if leads_out(file))
        problems = [f"a link points outside the project: {listed(links)}"] if links else []
        named = tuple(entry for part in self.task.walk() for entry in part.files)
        judging = tuple(path for path in self.change.paths if name_of(path) == SETTINGS_FILE and path not in named)
        if judging and not self.by_hand:
            problems.append(
                f"would change how Milepost checks work here, which the task does not ask for: {listed(judging)}"
            )
        tools = tuple(path for path in self.change.paths if is_of_environment(path) and not is_named(path, named))
        if tools and not self.by_hand:
            problems.append(f"brings packages or programs that the task does not ask for: {listed(tools)}")
        allowed = _allowed(self.task)
        outside = tuple(path for path in self.change.paths if allowed and not is_named(path, allowed))
        if outside:
            problems.append(f"changed outside of the task's files: {listed(outside)}")
        if self.most_files and len(self.change.files) > self.most_files:
            problems.append(f"{counted(self.change.paths)} changed, {self.most_files} allowed")
        large = tuple(file.path for file in self.change.files if 0 < self.largest_bytes < len(file.after or b""))
        if large:
            problems.append(f"larger than {self.largest_bytes} bytes: {listed(large)}")
        return problems


def _unread(change: Change, checkout: Path) -> list[str]:
    """The complaint about code and settings that no check has read, since they are too large; data may be."""
    files = (file for file in change.files if file.after == b"" and not file.is_link)
    large = tuple(
        file.path
        for file in files
        if (suffix(file.path) in CODE or is_test_setting(file.path)) and _size(checkout / file.path) > LARGEST_READ
    )
    return [f"too large to be looked at, over {LARGEST_READ // 1_000_000} MB: {listed(large)}"] if large else []


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _allowed(task: Task) -> tuple[str, ...]:
    """The files of all parts, when one of them says that there may be no others; empty when there is no limit."""
    if not any(part.only_its_files for part in task.walk()):
        return ()
    return tuple(dict.fromkeys(entry for part in task.walk() for entry in part.files))
