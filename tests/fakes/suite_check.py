"""The check of a project's tests on one checkout, for tests that have no other tree."""

from __future__ import annotations

from typing import Any

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckResult
from milepost.verify.baseline_port import UnknownBefore
from milepost.verify.checks.tests import TestsCheck
from milepost.verify.command_runner import Bench
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.trees import Tree, Trees


def one_tree(bench: Bench, workspace: Workspace) -> Trees:
    """A candidate that touches nothing that judges."""
    tree = Tree(workspace=workspace, bench=bench)
    return Trees(as_it_is=tree, bench=tree)


def run_tests(bench: Bench, workspace: Workspace, runners: tuple[str, ...] = (), **more: Any) -> CheckResult:
    """What the project's tests come to in a checkout."""
    runs = CandidateRuns(one_tree(bench, workspace), UnknownBefore(), {}, runners)
    return TestsCheck(runs=runs, **more).run(workspace)
