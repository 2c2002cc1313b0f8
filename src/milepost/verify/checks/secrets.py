"""The check that a change adds no credentials; what it found is named by its place, never shown."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.verdict import CheckResult
from milepost.verify.checks.files import listed
from milepost.verify.credentials import Redact, leaks


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretsCheck:
    """Looks for credentials in all that a change brings."""

    change: Change
    redact: Redact = str

    def run(self, workspace: Workspace) -> CheckResult:
        found = tuple(place for file in self.change.files for place in leaks(file, self.redact))
        if found:
            return secrets_found(found)
        return CheckResult(name="secrets", outcome="passed", summary="no credentials in the change")


def secrets_found(places: tuple[str, ...]) -> CheckResult:
    """The answer where a change has credentials at some places."""
    summary = f"credentials in the change: {listed(places)}"
    return CheckResult(name="secrets", outcome="failed", summary=summary, log="\n".join(places))
