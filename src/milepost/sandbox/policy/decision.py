"""What is decided about a command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from milepost.sandbox.command_risk import Danger

Verdict = Literal["allow", "ask", "deny"]
Kind = Literal["safe", "writes", "network", "destructive", "privileged"]

STRICTER: tuple[Verdict, ...] = ("allow", "ask", "deny")
WORSE: tuple[Kind, ...] = ("safe", "writes", "network", "destructive", "privileged")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether a command may run and what kind it is; `reason` and `rule` are of its strictest piece, `what`.

    `kind` is the worst of all pieces. `rule` names whose word it was: `danger git`, `[terminal] deny npm publish`.
    """

    verdict: Verdict
    kind: Kind
    reason: str
    rule: str
    what: str = ""

    @property
    def is_listed(self) -> bool:
        """Whether the project's own settings decided."""
        return self.rule.startswith("[terminal]")

    @property
    def danger(self) -> Danger:
        """The decision as the danger that a person is asked about."""
        return Danger(kind="listed", why=self.reason, what=self.what)

    @property
    def refusal(self) -> str:
        """What whoever wanted to run the command is told."""
        return f"refused by policy: {self.what} {self.reason} (rule {self.rule})"
