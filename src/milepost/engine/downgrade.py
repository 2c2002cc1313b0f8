"""A weaker trust level than the one asked for: taken only where the settings allow it, and told with every result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from milepost.core.commands import Command, CommandResult, Line, TrustLevel
from milepost.core.ports import Terminal
from milepost.engine.settings import Settings
from milepost.sandbox.levels import level_for, strongest

DOWNGRADED = "downgraded"


def trust_for(settings: Settings) -> tuple[TrustLevel, bool]:
    """The level to work at, and whether it is weaker than the one asked for; refuses where that is not allowed."""
    if settings.run.trust is None:
        return strongest(), False
    return level_for(settings.run.trust, allow_downgrade=settings.sandbox.allow_downgrade)


@dataclass(frozen=True, slots=True, kw_only=True)
class DowngradedTerminal:
    """Runs commands on a terminal of a weaker level than was asked for, and says so beside what holds them."""

    terminal: Terminal

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        result = self.terminal.run(command, on_line)
        return replace(result, enforced=(*result.enforced, DOWNGRADED)) if result.enforced else result
