"""What a person's yes makes of evidence: held work that was approved has passed, accepted work stays unproven."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.basis import BY_OWN_TESTS, own_tests
from milepost.core.verdict import CheckResult, Evidence, Verdict

REVIEW, ACCEPTANCE = "review", "acceptance"
_APPROVED, _ACCEPTED, _NOT_VERIFIED = "approved by ", "accepted by ", ", not verified"


def approved(evidence: Evidence, by: str) -> Evidence:
    """Held evidence with the answer that it lacked: passed, with its questions kept; what was unverified stays so."""
    if evidence.verdict is not Verdict.HELD:
        return accepted(evidence, by)
    review = CheckResult(name=REVIEW, outcome="passed", summary=f"{_APPROVED}{_one_line(by)}", decisive=True)
    return replace(evidence, verdict=Verdict.PASSED, checks=(*evidence.checks, review))


def accepted(evidence: Evidence, by: str, why: str = "") -> Evidence:
    """Evidence for work that its owner takes as it is: the verdict stays, and a check says who took it.

    What passed needs nobody to take it.
    """
    if evidence.verdict is Verdict.PASSED:
        return evidence
    said = f"{_ACCEPTED}{_one_line(by)}{_NOT_VERIFIED}"
    summary = f"{said}: {_one_line(why)}" if why.strip() else said
    return replace(evidence, checks=(*evidence.checks, CheckResult(name=ACCEPTANCE, outcome="passed", summary=summary)))


def approver(evidence: Evidence) -> str:
    """Who approved held work, empty where nobody had to."""
    return _named(evidence, REVIEW, _APPROVED)


def acceptor(evidence: Evidence) -> str:
    """Who accepted work that was not verified, empty where nobody did."""
    return _named(evidence, ACCEPTANCE, _ACCEPTED).partition(_NOT_VERIFIED)[0]


def may_land(evidence: Evidence) -> bool:
    """Whether the work becomes a milepost: it passed, or its owner takes it as it is."""
    return evidence.verdict is Verdict.PASSED or (evidence.verdict is not Verdict.FAILED and bool(acceptor(evidence)))


def carried_over(before: Evidence, now: Evidence) -> Evidence:
    """Newer evidence for the same work on another base, with the answer that a person gave; one that failed failed."""
    if now.verdict in (Verdict.PASSED, Verdict.FAILED):
        return now
    if acceptor(before):
        taken = [check for check in before.checks if check.name == ACCEPTANCE]
        return replace(now, checks=(*now.checks, *taken))
    return approved(now, approver(before)) if approver(before) else now


def verdict_words(evidence: Evidence) -> str:
    """The verdict as people read it, with who had the last word, and whose tests decided."""
    if name := acceptor(evidence):
        return f"{_ACCEPTED}{name}{_NOT_VERIFIED}"
    if evidence.verdict is Verdict.PASSED and (name := approver(evidence)):
        return f"held, {_APPROVED}{name}"
    if evidence.verdict is Verdict.PASSED and own_tests(evidence):
        return f"passed, {BY_OWN_TESTS}"
    return evidence.verdict.value


def end_reason(evidence: Evidence) -> str:
    """One line on why a task that landed did so."""
    by_person = acceptor(evidence) or approver(evidence)
    return verdict_words(evidence) if by_person else evidence.reason


def _named(evidence: Evidence, name: str, lead: str) -> str:
    said = (check.summary for check in evidence.checks if check.name == name and check.outcome == "passed")
    return next((text.removeprefix(lead) for text in said if text.startswith(lead)), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
