"""The counter-proof: tests that decide are run once more as twins that must fail."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.folders import NOT_SOURCE
from milepost.core.verdict import CheckResult, TestCase
from milepost.verify.checks.files import listed
from milepost.verify.command_runner import Bench
from milepost.verify.judging.paths import is_test_path
from milepost.verify.suites.detect import PYTHON, suites
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.witness.account import RAN_TO_THE_END
from milepost.verify.witness.swap import read_plainly, swapped
from milepost.verify.witness.twin_source import WILDCARDS, twin_of

NAME = "counter-proof"
ABOUT = "counter-proof: failing is what is wanted"
MOST_DECIDING = 50
OTHERS = 5
SHORTEST_TIMEOUT_S = 30.0

_WILDCARD = re.compile(r"\bmock\b|\bdirty_equals\b|\bhamcrest\b|\bcallee\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinsCheck:
    """Asks whether the tests that passed could have failed: in the same process, with the same code, under their names.

    `seed` chooses the tests that are tried beside those that decide; `runners` are those that are used, all when empty.
    """

    bench: Bench
    seed: str = ""
    runners: tuple[str, ...] = ()

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        """Run the twins of tests that `earlier` checks reported as passed."""
        ids = chosen(earlier, self.seed or workspace.base)
        nonce = secrets.token_hex(8)
        twins = _twins(workspace, ids, nonce)
        if not twins.files:
            return CheckResult(name=NAME, outcome="absent", summary="no Python test passed that could be tried")
        longest = max((check.duration_ms for check in earlier), default=0) / 1000
        timeout_s = min(self.bench.timeout_s, max(SHORTEST_TIMEOUT_S, 5 * longest))
        bench = replace(self.bench, timeout_s=timeout_s, about=ABOUT)
        found = [suite for suite in suites(workspace.folder, self.runners) if suite.runner in PYTHON]
        with swapped(workspace.folder, twins.files):
            runs = tuple(
                suite.runner.run(suite.folder, workspace, bench, only=here)
                for suite in found
                if (here := _of_folder(twins.ids, suite.folder, tuple(each.folder for each in found)))
            )
        return judged(runs, twins.ids, nonce)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Twins:
    """The files with twins, and the ids of the tests that have one."""

    files: Mapping[str, bytes | None]
    ids: tuple[str, ...]


def chosen(earlier: Iterable[CheckResult], seed: str) -> tuple[str, ...]:
    """The tests to try: those that passed and did not before, and a few of the others, drawn by `seed`."""
    passed: dict[str, TestCase] = {}
    for check in earlier:
        passed.update({case.id: case for case in check.cases if case.outcome == "passed" and ".py::" in case.id})
    drawn = sorted(passed.values(), key=lambda case: hashlib.sha256(f"{seed} {case.id}".encode()).digest())
    deciding = [case.id for case in drawn if case.before == "failed"]
    deciding += [case.id for case in drawn if case.before not in ("failed", "passed")]
    others = [case.id for case in drawn if case.before == "passed"]
    return (*deciding[:MOST_DECIDING], *others[:OTHERS])


def judged(runs: tuple[SuiteRun, ...], ids: tuple[str, ...], nonce: str) -> CheckResult:
    """What the twins came to: each must have failed, and no value may have claimed to equal what nothing equals."""
    cases = [case for run in runs for case in run.cases if case.id in ids]
    alive = tuple(case.id for case in cases if case.outcome == "passed")
    forged = tuple(case.id for case in cases if f"{nonce}=" in case.message or f"{nonce}=" in case.traceback)
    ended = [run for run in runs if run.exit_code in RAN_TO_THE_END]
    doubts = [run.problem for run in ended if run.problem]
    told = CheckResult(
        name=NAME,
        outcome="passed",
        summary="",
        argv=runs[0].argv if runs else (),
        exit_code=runs[0].exit_code if runs else None,
        log="\n".join(run.log for run in runs if run.problem),
        duration_ms=sum(run.duration_ms for run in runs),
        enforced=runs[0].enforced if runs else (),
        environment=runs[0].environment if runs else "",
    )
    if forged:
        return _failed(told, f"{_tests(forged)} compared with a value that equals everything: {listed(forged)}")
    if alive:
        return _failed(told, f"{_tests(alive)} passed as twins that must fail: {listed(alive)}")
    if doubts:
        return _failed(told, doubts[0])
    failed = sum(case.outcome == "failed" for case in cases)
    if not failed:
        why = next((run.problem for run in runs if run.problem), "none of the twins was run")
        return replace(told, outcome="absent", summary=f"nothing could be tried: {why}")
    return replace(told, summary=f"{failed} of {len(ids)} tests failed when made to")


def _tests(ids: tuple[str, ...]) -> str:
    return "1 test" if len(ids) == 1 else f"{len(ids)} tests"


def _failed(told: CheckResult, summary: str) -> CheckResult:
    return replace(told, outcome="failed", summary=summary)


def _twins(workspace: Workspace, ids: tuple[str, ...], nonce: str) -> _Twins:
    wild = WILDCARDS if not _products_know_wildcards(workspace.folder) else ()
    by_file: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for id_ in ids:
        file, _, inner = id_.partition("::")
        by_file[file][id_] = tuple(inner.partition("[")[0].split("::"))
    files: dict[str, bytes | None] = {}
    tried: list[str] = []
    for file, wanted in by_file.items():
        source = read_plainly(workspace.folder, file)
        text = (source or b"").decode("utf-8", errors="replace")
        known = WILDCARDS if _WILDCARD.search(text) else wild
        twin = twin_of(text, frozenset(wanted.values()), nonce, known)
        if twin is not None:
            files[file] = twin.source.encode("utf-8", errors="replace")
            tried += [id_ for id_, path in wanted.items() if path in twin.tests]
    return _Twins(files=files, ids=tuple(tried))


def _products_know_wildcards(checkout: Path) -> bool:
    """Whether code that is no test speaks of values that equal everything: then it may hand them out."""
    for folder, folders, names in os.walk(checkout):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in NOT_SOURCE]
        for name in names:
            path = Path(folder, name)
            if not name.endswith(".py") or path.is_symlink() or is_test_path(path.relative_to(checkout).as_posix()):
                continue
            with suppress(OSError):
                if _WILDCARD.search(path.read_text(encoding="utf-8", errors="replace")):
                    return True
    return False


def _of_folder(ids: tuple[str, ...], folder: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    """The ids whose nearest suite is the one in `folder`."""

    def nearest(id_: str) -> str | None:
        around = [each for each in folders if not each or id_.startswith(f"{each}/")]
        return max(around, key=len) if around else None

    return tuple(id_ for id_ in ids if nearest(id_) == folder)
