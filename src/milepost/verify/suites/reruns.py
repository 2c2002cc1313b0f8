"""Tests run again, to tell those that fail from those that sometimes do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from milepost.core.attempt import Workspace
from milepost.core.verdict import TestOutcome
from milepost.verify.command_runner import Bench
from milepost.verify.suites.detect import FoundSuite
from milepost.verify.suites.suite import SuiteRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Reruns:
    """How tests that were run several times ended each time, the first run included."""

    ended: Mapping[str, tuple[TestOutcome, ...]] = field(default_factory=dict)

    @property
    def flaky(self) -> frozenset[str]:
        return frozenset(name for name, ends in self.ended.items() if {"passed", "failed"} <= set(ends))

    def in_words(self, name: str) -> str:
        """`failed 2 of 3 times`."""
        ends = self.ended[name]
        return f"failed {ends.count('failed')} of {len(ends)} times"


def rerun(
    runs: tuple[tuple[FoundSuite, SuiteRun], ...],
    ids: tuple[str, ...],
    workspace: Workspace,
    bench: Bench,
    *,
    times: int,
) -> Reruns:
    """Run these tests of the suites up to `times` times more; one that is known to be flaky is left in peace.

    A test that a rerun does not tell of, or whose word is not to be trusted, has not passed.
    """
    ended: dict[str, tuple[TestOutcome, ...]] = {}
    for suite, first in runs:
        mine: dict[str, tuple[TestOutcome, ...]] = {case.id: (case.outcome,) for case in first.cases if case.id in ids}
        for _ in range(times):
            open_ids = tuple(name for name, ends in mine.items() if len(set(ends)) == 1)
            if not open_ids:
                break
            again = suite.runner.run(suite.folder, workspace, bench, only=open_ids)
            told = {} if again.problem else {case.id: case.outcome for case in again.cases}
            for name in open_ids:
                mine[name] = (*mine[name], told.get(name, "failed"))
        ended.update(mine)
    return Reruns(ended=ended)
