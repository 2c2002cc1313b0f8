"""What the engine found out about a result: checks, evidence, verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from milepost.core.commands import enforced_by_all

CheckOutcome = Literal["passed", "failed", "absent"]
TestOutcome = Literal["passed", "failed", "skipped"]
FailureKind = Literal[
    "assertion", "import", "runtime", "type", "value", "attribute", "timeout", "collection", "unknown"
]


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """One test by its id, as the runner's report named it.

    `before` is its outcome at the base, None when it was not there or that is unknown. `kind` and
    `traceback` are told of a failure. `flaky` means that it failed and passed on the same tree. `parameters`
    is a digest of what a parametrised test is called with, empty where that is not known.
    """

    __test__ = False  # pytest collects classes by this prefix

    id: str
    outcome: TestOutcome
    message: str = ""
    duration_ms: int = 0
    before: TestOutcome | None = None
    kind: FailureKind | None = None
    traceback: str = ""
    flaky: bool = False
    parameters: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One question put to a result, and its answer.

    `absent` means there was nothing to ask. `decisive` means that the answer is about this
    task in particular: without one decisive check that passed, nothing is called passed.
    `before` is the same question's answer at the base, None when it was not asked there.
    `environment` is a fingerprint of what the command ran with; `log_id` names the whole log,
    of which `log` is the end.
    """

    name: str
    outcome: CheckOutcome
    summary: str
    decisive: bool = False
    argv: tuple[str, ...] = ()
    exit_code: int | None = None
    cases: tuple[TestCase, ...] = ()
    log: str = ""
    log_id: str = ""
    duration_ms: int = 0
    enforced: tuple[str, ...] = ()
    before: CheckOutcome | None = None
    environment: str = ""

    def count(self, outcome: TestOutcome) -> int:
        return sum(case.outcome == outcome for case in self.cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The checks that were run on one tree, and the verdict they add up to.

    `confidence` is one number from 0 to 1 for how much the checks say. It passes nothing.
    """

    tree: str
    verdict: Verdict
    checks: tuple[CheckResult, ...]
    confidence: float = 0.0

    @property
    def enforced(self) -> tuple[str, ...]:
        """What the sandbox held for every command of the checks."""
        return enforced_by_all([check.enforced for check in self.checks if check.enforced])

    @property
    def reason(self) -> str:
        """One line: why the verdict is what it is."""
        failed = [check for check in self.checks if check.outcome == "failed"]
        if failed:
            naming_tests = [check for check in failed if check.count("failed")]
            return (naming_tests or failed)[0].summary
        if self.verdict is Verdict.UNVERIFIED:
            return "no check could say whether this is done"
        return "; ".join(check.summary for check in self.checks if check.decisive)


def judge(tree: str, checks: tuple[CheckResult, ...]) -> Evidence:
    """The verdict on a tree: one failed check fails it, and passing takes a decisive check."""
    if any(check.outcome == "failed" for check in checks):
        verdict = Verdict.FAILED
    elif any(check.decisive and check.outcome == "passed" for check in checks):
        verdict = Verdict.PASSED
    else:
        verdict = Verdict.UNVERIFIED
    return Evidence(tree=tree, verdict=verdict, checks=checks)
