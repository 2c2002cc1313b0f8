"""A terminal that runs only what the policy allows, or a person does."""

from __future__ import annotations

from collections.abc import Callable

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.sandbox.policy.audit import Audit
from milepost.sandbox.policy.decide import Policy, decide
from milepost.sandbox.policy.decision import Decision

Asking = Callable[[Decision, Command], bool]


def nobody(_: Decision, __: Command) -> bool:
    """Nobody is there to be asked: what would be asked about is refused."""
    return False


class PolicedTerminal:
    """Judges each command before another terminal runs it. `ask` says whether a command that is asked about may run.

    A decision is in the audit, and told to `on_decision`, before it has an effect.
    """

    def __init__(
        self,
        terminal: Terminal,
        policy: Policy,
        *,
        audit: Audit | None = None,
        ask: Asking = nobody,
        on_decision: Callable[[Decision], None] | None = None,
        place: str = "",
    ) -> None:
        self._terminal = terminal
        self._policy = policy
        self._audit = audit
        self._ask = ask
        self._on_decision = on_decision
        self._place = place

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        decision = decide(self._policy, command.argv, (str(command.cwd), str(command.scratch)))
        runs = decision.verdict == "allow" or (decision.verdict == "ask" and self._ask(decision, command))
        if self._audit is not None:
            self._audit.note(decision, command.argv, runs=runs, place=self._place)
        if self._on_decision is not None:
            self._on_decision(decision)
        return self._terminal.run(command, on_line) if runs else _refused(decision)


def _refused(decision: Decision) -> CommandResult:
    return CommandResult(
        termination="not_started",
        exit_code=None,
        stdout="",
        stderr="",
        duration_ms=0,
        enforced=(),
        error=decision.refusal,
    )
