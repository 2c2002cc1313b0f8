"""The files that hold deciding tests, each with these and those that control them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from milepost.core.verdict import CheckResult
from milepost.verify.deciding import brought, of_base
from milepost.verify.judging.changed_tests import file_of
from milepost.verify.plain.outcome import Unit, by_file
from milepost.verify.plain.run import PlainProgram
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.trees import Tree
from milepost.verify.witness.swap import read_plainly

MOST_DECIDING = 30
MOST_CONTROLS = 5
SHORTEST_TIMEOUT_S = 30.0
MOST_FILES, MOST_TESTS, COMPARED_S = 2, 40, 45.0


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


def programs_about(
    runs: CandidateRuns, earlier: tuple[CheckResult, ...], product: tuple[str, ...], about: str
) -> Iterator[tuple[PlainProgram, tuple[str, ...]]]:
    """The test files of the base that speak of these files of the product, those that do most first, with the places
    of the tests that pass in them."""
    tree = runs.trees.bench
    place = Tree(
        workspace=tree.workspace,
        bench=replace(tree.bench, about=about, timeout_s=min(tree.bench.timeout_s, COMPARED_S)),
    )
    tests = frozenset(file_of(case.id) for check in earlier for case in check.cases)
    units = by_file(of_base(runs, earlier, ()))
    named = {path: names for path in units if (names := _spoken_of(tree, path, product))}
    for path in sorted(named, key=lambda one: -named[one])[:MOST_FILES]:
        program = PlainProgram(tree=place, path=path, folder=_folder_of(runs, path), tests=tests)
        if program.language:
            known = program.plain().names if program.language == "Python" else None
            places = [unit.place for unit in units[path] if known is None or unit.place in known]
            yield program, tuple(places[:MOST_TESTS])


def _spoken_of(tree: Tree, path: str, product: tuple[str, ...]) -> int:
    """How often a file has the names of some modules."""
    words = re.findall(r"\w+", (read_plainly(tree.workspace.folder, path) or b"").decode("utf-8", "replace"))
    places = [PurePosixPath(one) for one in product]
    names = {one.parent.name if one.stem in ("__init__", "index") else one.stem for one in places}
    packages = {part for one in places for part in one.parent.parts} - {"src", "lib"}
    return 100 * sum(word in names for word in words) + sum(word in packages for word in words)


def _folder_of(runs: CandidateRuns, path: str) -> str:
    """The folder of the suite that ran a file."""
    for suite, run in (*runs.on_bench, *runs.as_they_are):
        if any(file_of(case.id) == path for case in run.cases):
            return suite.folder
    return ""
