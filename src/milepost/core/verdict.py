"""What the engine found out about a result: checks, evidence, verdict."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from milepost.core.commands import enforced_by_all

CheckOutcome = Literal["passed", "failed", "held", "absent"]
TestOutcome = Literal["passed", "failed", "skipped"]
FailureKind = Literal[
    "assertion", "import", "runtime", "type", "value", "attribute", "timeout", "collection", "unknown"
]


QuestionKind = Literal[
    "changed test",
    "dropped test",
    "removed test",
    "own tests",
    "left out",
    "audit",
    "counter-proof",
    "not shown",
    "other",
]


class Verdict(StrEnum):
    """`held`: nothing speaks against the work, and only a person can answer what is left. `unverified`: a check that
    would have decided could not be made."""

    PASSED = "passed"
    HELD = "held"
    FAILED = "failed"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person is asked about held work, in one line; where an expectation changed, what it was and what it is.

    `path` is the file that it is about, `line` where in it, 0 when that is not known.
    """

    kind: QuestionKind
    text: str
    path: str = ""
    line: int = 0
    before: str = ""
    after: str = ""


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

    `absent` means there was nothing to ask; where it is `needed` it could not be asked, and nothing is called
    passed without it. `held` means that only a person can answer: `questions` says what. `decisive` means that
    the answer is about this task in particular: without one decisive check that passed, nothing is called passed.
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
    questions: tuple[Question, ...] = ()
    needed: bool = False

    @property
    def line(self) -> str:
        """The command as its author wrote it, without the shell that was started for it."""
        return self.argv[2] if len(self.argv) == 3 and self.argv[:2] == ("/bin/sh", "-c") else shlex.join(self.argv)

    def count(self, outcome: TestOutcome) -> int:
        return sum(case.outcome == outcome for case in self.cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The checks that were run on one tree, and the verdict they add up to.

    `confidence` is one number from 0 to 1 for how much the checks say. It passes nothing. `from_base` are the files
    that judge and that the change touched: the verdict was taken with them as they were at the base, and without those
    that were added, `left_out`.
    """

    tree: str
    verdict: Verdict
    checks: tuple[CheckResult, ...]
    confidence: float = 0.0
    from_base: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def questions(self) -> tuple[Question, ...]:
        """All that a person is asked about it."""
        return tuple(question for check in self.checks for question in check.questions)

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
        if self.verdict is Verdict.HELD:
            held = [check for check in self.checks if check.outcome == "held"]
            return "; ".join(check.summary for check in held)
        if self.verdict is Verdict.UNVERIFIED:
            missing = [check.summary for check in self.checks if check.needed and check.outcome == "absent"]
            return missing[0] if missing else "no check could say whether this is done"
        return "; ".join(check.summary for check in self.checks if check.decisive)


def judge(tree: str, checks: tuple[CheckResult, ...]) -> Evidence:
    """The verdict on a tree: one failed check fails it, one held holds it, and passing takes a decisive check."""
    if any(check.outcome == "failed" for check in checks):
        verdict = Verdict.FAILED
    elif any(check.needed and check.outcome == "absent" for check in checks):
        verdict = Verdict.UNVERIFIED
    elif any(check.outcome == "held" for check in checks):
        verdict = Verdict.HELD
    elif any(check.decisive and check.outcome == "passed" for check in checks):
        verdict = Verdict.PASSED
    else:
        verdict = Verdict.UNVERIFIED
    return Evidence(tree=tree, verdict=verdict, checks=checks)
