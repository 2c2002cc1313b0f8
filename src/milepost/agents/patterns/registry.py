"""The patterns that ship, by name."""

from __future__ import annotations

from milepost.agents.patterns.module_creation import ModuleCreation
from milepost.agents.patterns.pattern import Pattern
from milepost.core.errors import AgentUnknown

PATTERNS: tuple[Pattern, ...] = (ModuleCreation(),)


def pattern_named(name: str) -> Pattern:
    """The pattern of that name, or AgentUnknown with the names there are."""
    for pattern in PATTERNS:
        if pattern.name == name:
            return pattern
    raise AgentUnknown(
        f"there is no pattern {name!r}", f"the patterns are: {', '.join(pattern.name for pattern in PATTERNS)}"
    )
