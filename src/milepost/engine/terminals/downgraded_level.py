"""A weaker trust level than the one asked for: taken only where the settings allow it, and told with every result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal

DOWNGRADED = "downgraded-from-sandboxed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DowngradedTerminal:
    """Runs commands on a terminal of a weaker level than was asked for, and says so before all that holds them."""

    terminal: Terminal

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        result = self.terminal.run(command, on_line)
        return replace(result, enforced=(DOWNGRADED, *result.enforced)) if result.enforced else result
