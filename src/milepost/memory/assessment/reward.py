"""The reward of an episode: what it was worth, from what was measured of it."""

from __future__ import annotations

import math
import re

from milepost.core.memories import Complexity, Episode, EpisodeEnd, EpisodeStep, Pattern, Reward

_COMPLEXITY: dict[Complexity, float] = {"simple": 1.0, "moderate": 1.1, "complex": 1.2}
_LEAST, _MOST = 0.5, 1.5
_MOST_LEARNING = 0.5
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def reward_of(episode: Episode, patterns: tuple[Pattern, ...] = ()) -> Reward:
    """What an episode was worth: nothing while it is open, and never anything for a failure."""
    if episode.end is None:
        return Reward()
    end, steps = episode.end, episode.steps
    base, abstention = base_of(end), abstention_of(end, len(steps))
    efficiency = efficiency_of(end.duration_ms / 1000, len(steps))
    complexity = _COMPLEXITY[episode.start.circumstances.complexity]
    quality = quality_of(end, steps)
    learning = learning_of(end, steps, patterns) if base > 0 else 0.0
    return Reward(
        total=max(0.0, base + abstention) * efficiency * complexity * quality + learning,
        base=base,
        abstention=abstention,
        efficiency=efficiency,
        complexity=complexity,
        quality=quality,
        learning=learning,
    )


def base_of(end: EpisodeEnd) -> float:
    """How far the work came: all of it, a share of its parts, or nothing."""
    match end.kind:
        case "success":
            return 1.0
        case "partial":
            parts = len(end.completed) + len(end.undone)
            return len(end.completed) / parts if parts else 0.5
        case "abstained":
            return 0.3
        case "failure" | "interrupted":
            return 0.0


def abstention_of(end: EpisodeEnd, steps: int) -> float:
    """To leave what cannot be done is worth the more the sooner it is left; to fail late is worth less than to fail."""
    if end.kind == "abstained":
        share = min(1.0, max(0.0, (steps - 3) / 7))
        return 0.5 - 0.8 * share
    return -0.2 if end.kind == "failure" and steps > 10 else 0.0


def efficiency_of(seconds: float, steps: int) -> float:
    """More for less time and fewer steps; a quick one is never worth less than a slow one."""
    return _bounded(0.5 * _fading(seconds / 60) + 0.5 * _fading(steps / 10))


def quality_of(end: EpisodeEnd, steps: tuple[EpisodeStep, ...]) -> float:
    """What the exhibits and the steps say of how well it was done."""
    quality = 1.0
    if any(exhibit.kind in ("test", "coverage") for exhibit in end.exhibits):
        quality += 0.1
    if len(end.exhibits) >= 3:
        quality += 0.05
    covered = max((_number(exhibit.text) for exhibit in end.exhibits if exhibit.kind == "coverage"), default=0.0)
    quality += 0.15 if covered > 80 else 0.1 if covered > 60 else 0.0
    if any(exhibit.name == "lint" and _number(exhibit.text) == 0 for exhibit in end.exhibits):
        quality += 0.05
    return _bounded(quality + _for_errors(steps))


def learning_of(end: EpisodeEnd, steps: tuple[EpisodeStep, ...], patterns: tuple[Pattern, ...]) -> float:
    """A little for what later episodes can learn from this one."""
    tools = len({step.tool for step in steps})
    passed = sum(step.result == "success" for step in steps)
    bonus = min(0.3, 0.1 * len(patterns))
    bonus += 0.15 if tools >= 5 else 0.1 if tools >= 3 else 0.0
    if len(steps) >= 5 and passed / len(steps) > 0.9:
        bonus += 0.2
    elif len(steps) >= 3 and passed == len(steps):
        bonus += 0.15
    if any(pattern.kind == "error_recovery" for pattern in patterns):
        bonus += 0.15
    if end.duration_ms < 30_000 and len(steps) < 10:
        bonus += 0.1
    return min(_MOST_LEARNING, bonus)


def _for_errors(steps: tuple[EpisodeStep, ...]) -> float:
    if not steps:
        return 0.0
    rate = sum(step.result != "success" for step in steps) / len(steps)
    return -0.2 if rate > 0.3 else -0.1 if rate > 0.1 else 0.1 if rate == 0 else 0.0


def _fading(ratio: float) -> float:
    return 0.5 + math.exp(-max(0.0, ratio) / 2)


def _bounded(value: float) -> float:
    return min(_MOST, max(_LEAST, value))


def _number(text: str) -> float:
    found = _NUMBER.search(text)
    return float(found.group()) if found else 0.0
