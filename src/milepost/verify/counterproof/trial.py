"""Tests run by their ids with files of the checkout replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from milepost.core.attempt import Workspace
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.languages import language_of, runs
from milepost.verify.programs.command_line import argv_of
from milepost.verify.suites.detect import FoundSuite
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.witness.swap import swapped

Files = Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The suites of a checkout, and the bench to run them on."""

    workspace: Workspace
    bench: Bench
    suites: tuple[FoundSuite, ...]

    def run(self, files: Files, ids: tuple[str, ...]) -> tuple[SuiteRun, ...]:
        """The runs of all suites that have one of these tests."""
        with swapped(self.workspace.folder, files):
            return tuple(
                suite.runner.run(suite.folder, self.workspace, self.bench, only=here)
                for suite in self.suites
                if (here := self._of(suite, ids))
            )

    def command_passes(self, files: Files, line: str) -> bool:
        """Whether a command ends with 0, whatever it runs."""
        with swapped(self.workspace.folder, files):
            return self.bench.run(argv_of(line), self.workspace).succeeded

    def _of(self, suite: FoundSuite, ids: tuple[str, ...]) -> tuple[str, ...]:
        """The ids whose nearest suite of their language is this one."""

        def nearest(id_: str) -> str | None:
            language = language_of(id_.partition("::")[0])
            folders = [each.folder for each in self.suites if runs(each.runner, language)]
            around = [folder for folder in folders if not folder or id_.startswith(f"{folder}/")]
            return max(around, key=len) if around and runs(suite.runner, language) else None

        return tuple(id_ for id_ in ids if nearest(id_) == suite.folder)


def passed_in(found: tuple[SuiteRun, ...], ids: tuple[str, ...]) -> frozenset[str]:
    """Those of the tests that passed."""
    return frozenset(case.id for run in found for case in run.cases if case.outcome == "passed" and case.id in ids)
