"""Runs a project's Python tests with what its own environment has: pytest, or else unittest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.verify.command_runner import Bench
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.witness.runner import NO_INTERPRETER, PytestRunner, UnittestRunner


@dataclass(frozen=True, slots=True)
class PythonRunner:
    name: str = "python"

    def finds(self, folder: Path) -> bool:
        return PytestRunner().finds(folder)

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        if bench.interpreter is None:
            return SuiteRun(argv=(), exit_code=None, missing=NO_INTERPRETER)
        runner = PytestRunner() if bench.has_pytest(bench.interpreter, workspace) else UnittestRunner()
        return runner.run(folder, workspace, bench, only)
