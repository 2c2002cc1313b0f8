"""Heuristics: where something holds, what has worked, with how sure that is and the episodes that support it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from milepost.core.memories import Heuristic, Pattern
from milepost.memory.assessment.patterns import worthy

_SURE = 1.96  # so many standard deviations: 95 %


def heuristics_from(patterns: Iterable[Pattern]) -> tuple[Heuristic, ...]:
    """What patterns that were counted together say to do, the surest first; one action for a condition."""
    best: dict[str, Heuristic] = {}
    for pattern in filter(worthy, patterns):
        if (made := _heuristic(pattern)) is None:
            continue
        known = best.get(made.condition)
        if known is None or (made.confidence, made.action) > (known.confidence, known.action):
            best[made.condition] = made
    return tuple(sorted(best.values(), key=lambda one: (-one.confidence, one.condition)))


def confidence_of(passed: int, seen: int) -> float:
    """The least success rate that so few or many episodes make credible: Wilson's lower bound."""
    if not seen:
        return 0.0
    rate, square = passed / seen, _SURE**2
    centre = rate + square / (2 * seen)
    spread = _SURE * math.sqrt(rate * (1 - rate) / seen + square / (4 * seen * seen))
    return max(0.0, (centre - spread) / (1 + square / seen))


def _heuristic(pattern: Pattern) -> Heuristic | None:
    match pattern.kind:
        case "tool_sequence":
            return None
        case "decision_point":
            condition, action = f"after {pattern.parts[0]}", f"use {pattern.parts[1]}"
        case "error_recovery":
            condition, action = f"on {pattern.parts[0]}", " then ".join(pattern.parts[1:])
        case "context":
            condition, action = " and ".join(pattern.parts[:-1]), pattern.parts[-1]
    return Heuristic(
        condition=condition,
        action=action,
        confidence=confidence_of(pattern.passed, pattern.seen),
        passed=pattern.passed,
        seen=pattern.seen,
        episodes=pattern.episodes,
    )
