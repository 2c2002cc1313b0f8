"""A terminal that keeps secrets: what commands print is redacted before anybody sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.core.secrets.redact import Redactor


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
