"""The tests that decide, and beside them those of the same files that passed at the base as well."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.verdict import CheckResult, TestCase
from milepost.verify.judging.changed_tests import file_of
from milepost.verify.suites.candidate_runs import CandidateRuns, cases_of


def of_base(runs: CandidateRuns, earlier: tuple[CheckResult, ...], own: tuple[str, ...]) -> tuple[TestCase, ...]:
    """The tests of the base that earlier checks told of; one that passes only as the attempt changed it is not one."""
    found: dict[str, TestCase] = {}
    bench = {case.id: case.outcome for case in cases_of(runs.on_bench)}
    known = runs.trees.split.changed.intersection(
        map(file_of, bench)
    )  # changed files, whose tests of the base are known
    for check in earlier:
        if check.name in ("tests", "verify"):
            found.update({case.id: case for case in check.cases if case.id not in own and "::" in case.id})
    return tuple(
        case
        for case in found.values()
        if bench.get(case.id) != "failed" and (case.id in bench or file_of(case.id) not in known)
    )


def brought(runs: CandidateRuns, own: tuple[str, ...]) -> tuple[TestCase, ...]:
    """The attempt's own tests, and those of the same files that pass on the source of the base as well."""
    if not own:
        return ()
    files = {file_of(name) for name in own}
    old = runs.on_old_source or {}
    cases = (case for case in runs.now.values() if file_of(case.id) in files and "::" in case.id)
    return tuple(
        replace(case, before=None if case.id in own else "passed")
        for case in cases
        if case.id in own or old.get(case.id) == "passed"
    )
