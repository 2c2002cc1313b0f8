"""What agents' commands may do in a project, from its settings, and where that is written down."""

from __future__ import annotations

from pathlib import Path

from milepost.core.calls import Call
from milepost.core.secrets.redact import Redactor
from milepost.engine.project.settings.terminal import TerminalSettings
from milepost.sandbox.policy import Audit, Policy, Times, clause_of, decide

AUDIT = "audit.jsonl"


def policy_of(given: TerminalSettings) -> Policy:
    """The policy that [terminal] comes to."""
    return Policy(
        allow=tuple(map(clause_of, given.allow)),
        ask=tuple(map(clause_of, given.ask)),
        deny=tuple(map(clause_of, given.deny)),
        unlisted=given.unlisted,
        shell=given.shell,
    )


def times_of(given: TerminalSettings) -> Times:
    """The seconds of each class of commands."""
    return Times(quick_s=given.quick_s, medium_s=given.medium_s, long_s=given.long_s, background_s=given.background_s)


def audit_in(state: Path, redact: Redactor) -> Audit:
    """The audit of a project."""
    return Audit(state / AUDIT, redact)


class UnaskedVeto:
    """Refuses what is never to be run; what a person would be asked about may run: its work is thrown away."""

    def __init__(self, policy: Policy, audit: Audit, place: str) -> None:
        self._policy, self._audit, self._place = policy, audit, place

    def refusal(self, number: int, call: Call) -> str:
        if not call.argv:
            return ""
        decision = decide(self._policy, call.argv)
        refused = decision.verdict == "deny"
        self._audit.note(decision, call.argv, runs=not refused, place=self._place)
        return decision.refusal if refused else ""
