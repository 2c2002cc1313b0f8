"""The check that what the project says it needs could be got."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckOutcome, CheckResult
from milepost.verify.command_runner import Bench, last_line

NAME = "environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentCheck:
    """Failed only when the attempt itself changed what is needed: what could not be got before is not its fault.

    `before` is the lock of the base, and what could not be got there.
    """

    bench: Bench
    before: tuple[str, str] | None = None

    def run(self, workspace: Workspace) -> CheckResult:
        equipment = self.bench.equipment
        origin = "; ".join(equipment.origin)
        if not equipment.problem:
            summary = origin or "nothing is needed beyond the interpreter"
            return CheckResult(name=NAME, outcome="passed" if origin else "absent", summary=summary)
        blamed = self.before is not None and not self.before[1] and self.before[0] != equipment.lock
        summary = f"could not install the project's dependencies: {last_line(equipment.problem)}"
        outcome: CheckOutcome = "failed" if blamed else "absent"
        return CheckResult(name=NAME, outcome=outcome, summary=summary, log=equipment.problem)
