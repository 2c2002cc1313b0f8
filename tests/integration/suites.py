"""Small projects in checkouts, and benches to run their tests on."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.verdict import TestCase
from milepost.verify.suites.suite import SuiteRun


def workspace_in(folder: Path, files: Mapping[str, str]) -> Workspace:
    """A checkout with these files, and a scratch folder beside it."""
    workspace = Workspace(folder=folder / "checkout", scratch=folder / "scratch", base="0" * 40)
    workspace.folder.mkdir()
    workspace.scratch.mkdir()
    write(workspace, files)
    return workspace


def write(workspace: Workspace, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = workspace.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))


def outcomes_of(run: SuiteRun) -> dict[str, str]:
    return {case.id: case.outcome for case in run.cases}


def case_of(run: SuiteRun, name: str) -> TestCase:
    return next(case for case in run.cases if case.id == name)


def names_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if "node_modules" not in path.parts}
