"""The check that something changed, and that the files a task names are there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.failures import CHANGED_NOTHING
from milepost.core.verdict import CheckResult

SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesCheck:
    """`changed` comes from git; `expected` holds files, folders or globs relative to the checkout.

    No change is no work, unless the task declares that there is nothing to change.
    """

    changed: tuple[str, ...]
    expected: tuple[str, ...] = ()
    may_change_nothing: bool = False

    def run(self, workspace: Workspace) -> CheckResult:
        if not self.changed and not self.may_change_nothing:
            return CheckResult(name="files", outcome="failed", summary=CHANGED_NOTHING)
        missing = tuple(entry for entry in self.expected if not exists(workspace.folder, entry))
        if missing:
            return CheckResult(name="files", outcome="failed", summary=f"not there afterwards: {listed(missing)}")
        said = f"{counted(self.changed)} changed: {listed(self.changed)}" if self.changed else "nothing had to change"
        return CheckResult(name="files", outcome="passed", summary=said)


def exists(folder: Path, entry: str) -> bool:
    """Whether a file, a folder or at least one match of a glob is inside `folder`."""
    plain = entry.strip().removeprefix("./").strip("/")
    if not plain or ".." in plain.split("/"):
        return False
    try:
        return (folder / plain).exists() or any(True for _ in folder.glob(plain))
    except (OSError, ValueError, NotImplementedError):  # no name that a file could have, no glob
        return False


def counted(files: tuple[str, ...]) -> str:
    return "1 file" if len(files) == 1 else f"{len(files)} files"


def listed(names: tuple[str, ...], shown: int = SHOWN) -> str:
    """The first few names, and a sign that there are more."""
    return ", ".join(names[:shown]) + (", …" if len(names) > shown else "")
