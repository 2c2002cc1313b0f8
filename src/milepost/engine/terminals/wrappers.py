"""Wrappers around the sandbox's terminal: each runs commands on the next one and does one thing besides.

In a run, from the outside in: events (`command_events`), `RedactingTerminal`, `LimitedTerminal`, `AuditedTerminal`,
secrets (`sandbox.secrets`), `DowngradedTerminal`, the sandbox. `milepost sh` has its policy in the place of the events,
and the audit around the redaction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from milepost.core.commands import NO_NETWORK, Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.core.secrets.redact import Redactor
from milepost.engine.terminals.limits import CommandLimits
from milepost.sandbox.policy import Audit


class RedactingTerminal:
    """Runs commands on another terminal and takes the secrets out of their output, as a whole and line by line."""

    def __init__(self, terminal: Terminal, redact: Redactor) -> None:
        self._terminal = terminal
        self._redact = redact

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        if on_line is not None and not command.lines_are_parsed:
            on_line = self._discreet(on_line)
        result = self._terminal.run(command, on_line)
        redact = self._redact
        return replace(result, stdout=redact(result.stdout), stderr=redact(result.stderr), error=redact(result.error))

    def _discreet(self, on_line: Callable[[Line], None]) -> Callable[[Line], None]:
        streams = {"stdout": self._redact.lines(), "stderr": self._redact.lines()}
        return lambda line: on_line(replace(line, text=streams[line.stream](line.text)))


DOWNGRADED = "downgraded-from-sandboxed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DowngradedTerminal:
    """Runs commands on a terminal of a weaker level than was asked for, and says so before all that holds them."""

    terminal: Terminal

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        result = self.terminal.run(command, on_line)
        return replace(result, enforced=(DOWNGRADED, *result.enforced)) if result.enforced else result


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedTerminal:
    """Runs every command on another terminal with the same allowance."""

    terminal: Terminal
    allowance: CommandLimits

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        network = NO_NETWORK if command.offline else self.allowance.network
        allowed = replace(command, network=network, bounds=self.allowance.bounds)
        return self.terminal.run(allowed, on_line)


class AuditedTerminal:
    """Runs commands on another terminal, and writes down what the sandbox did not let them do."""

    def __init__(self, terminal: Terminal, audit: Audit, place: str) -> None:
        self._terminal, self._audit, self._place = terminal, audit, place

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        result = self._terminal.run(command, on_line)
        if result.refused:
            self._audit.note_refused(result.refused, command.argv, place=self._place)
        return result
