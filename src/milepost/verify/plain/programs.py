"""The files that hold deciding tests, each with these and those that control them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from milepost.core.verdict import CheckResult
from milepost.verify.deciding import brought, of_base
from milepost.verify.judging.changed_tests import file_of
from milepost.verify.plain.outcome import Unit, by_file
from milepost.verify.plain.run import PlainProgram
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.trees import Tree

MOST_DECIDING = 30
MOST_CONTROLS = 5
SHORTEST_TIMEOUT_S = 30.0


def programs(
    runs: CandidateRuns, earlier: tuple[CheckResult, ...], own: tuple[str, ...], about: str
) -> Iterator[tuple[PlainProgram, tuple[Unit, ...]]]:
    """The test files of the base and of the attempt with the tests that decide; none of them where no test is plain."""
    trees = runs.trees
    longest_s = max((check.duration_ms for check in earlier), default=0) / 1000
    tests = frozenset(file_of(case.id) for check in earlier for case in check.cases) | {*map(file_of, runs.now)}
    left = MOST_DECIDING
    for tree, cases in (
        (trees.bench, of_base(runs, earlier, own)),
        (trees.as_it_is, brought(runs, own)),
    ):
        limit_s = min(tree.bench.timeout_s, max(SHORTEST_TIMEOUT_S, 5 * longest_s))
        place = Tree(workspace=tree.workspace, bench=replace(tree.bench, about=about, timeout_s=limit_s))
        for path, units in by_file(cases).items():
            program = PlainProgram(tree=place, path=path, folder=_folder_of(runs, path), tests=tests)
            names = program.plain().names if program.language == "Python" else None
            plain = [unit for unit in units if names is None or unit.place in names]
            deciding = [unit for unit in plain if unit.decides][:left]
            if program.language and any(unit.decides for unit in units) and (deciding or not plain):
                left -= len(deciding)
                controls = [unit for unit in plain if not unit.decides][:MOST_CONTROLS]
                yield program, (*controls, *deciding)  # what leaves the process has no say about what ran before


def _folder_of(runs: CandidateRuns, path: str) -> str:
    """The folder of the suite that ran a file."""
    for suite, run in (*runs.on_bench, *runs.as_they_are):
        if any(file_of(case.id) == path for case in run.cases):
            return suite.folder
    return ""
