"""Patterns: what comes again in episodes, counted with how often those that had it passed.

Failed episodes count, too: as seen, not as passed. Only what was verified is counted at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from milepost.core.memories import Episode, EpisodeStep, Pattern, PatternKind

SHORTEST, LONGEST = 2, 5
MOST_OF_AN_EPISODE = 24
MOST_EPISODES = 20
MOST_KEPT = 200
FADING_DAYS = 30.0
STALE = 0.05  # of its first weight: what was seen once and is older is dropped
# What a pattern must have shown before it is worth telling.
WORTHY: dict[PatternKind, float] = {"tool_sequence": 0.7, "decision_point": 0.6, "error_recovery": 0.3, "context": 0.7}

_ASKING = frozenset(
    f"{verb}{ending}"
    for verb in ("check", "verify", "validate", "test", "lint", "assert")
    for ending in ("", "s", "ing")
)
_WORD = re.compile(r"[a-z]+")
_DAY_S = 86_400


def patterns_of(episode: Episode) -> tuple[Pattern, ...]:
    """What a verified episode shows, each thing once; nothing of one that nobody verified."""
    if not episode.verified or episode.end is None:
        return ()
    found = {(one.kind, one.key): one for one in _all_of(episode)}
    common = {
        "circumstances": replace(episode.start.circumstances, tags=()),
        "passed": int(episode.passed),
        "last_at": episode.end.ended_at,
        "episodes": (episode.id,),
    }
    return tuple(replace(one, **common) for one in list(found.values())[:MOST_OF_AN_EPISODE])  # type: ignore[arg-type]


def merged(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """The same things counted together, whatever order they come in; the most telling first."""
    found: dict[tuple[str, str], Pattern] = {}
    for one in patterns:
        key = (one.kind, one.key)
        found[key] = _joined(found[key], one) if key in found else one
    return tuple(sorted(found.values(), key=lambda one: (-one.success_rate, -one.seen, one.kind, one.key)))


def kept(patterns: Iterable[Pattern], now: float, most: int = MOST_KEPT) -> tuple[Pattern, ...]:
    """Those that are worth their place: the best by what they have shown, with what is old fading."""
    alive = [one for one in patterns if one.seen > 1 or weight_of(one, now) > STALE]
    return tuple(sorted(alive, key=lambda one: (-effectiveness(one, now), one.kind, one.key))[:most])


def worthy(pattern: Pattern) -> bool:
    """Whether a pattern has shown enough to be told: three episodes, and a success rate that its kind asks for."""
    return pattern.seen >= 3 and pattern.success_rate >= WORTHY[pattern.kind]


def fitting(patterns: Iterable[Pattern], episodes: Collection[str], language: str = "") -> Iterator[Pattern]:
    """Those that have shown enough, one of these episodes among others, in no other language than a known one."""
    for one in filter(worthy, patterns):
        other = language and one.circumstances.language not in ("", language)
        if not other and not set(one.episodes).isdisjoint(episodes):
            yield one


def effectiveness(pattern: Pattern, now: float) -> float:
    """How much a pattern counts: its success rate, more where it was seen often, less where that is long ago."""
    return pattern.success_rate * (1 + math.log(max(1, pattern.seen)) / 3) * weight_of(pattern, now)


def weight_of(pattern: Pattern, now: float) -> float:
    """What is left of a pattern's weight after the days since it was last seen."""
    return math.exp(-max(0.0, now - pattern.last_at) / _DAY_S / FADING_DAYS)


def _all_of(episode: Episode) -> Iterator[Pattern]:
    yield from _error_recoveries(episode.steps)
    yield from _decision_points(episode.steps)
    yield from _contexts(episode)
    yield from _tool_sequences(episode.steps)


def _tool_sequences(steps: tuple[EpisodeStep, ...]) -> Iterator[Pattern]:
    """Every run of two to five tools, anywhere in the episode; a tool used again at once counts as one use."""
    used = _without_repeats(steps)
    for length in range(SHORTEST, LONGEST + 1):
        for start in range(len(used) - length + 1):
            window = used[start : start + length]
            tools = tuple(step.tool for step in window)
            latency_ms = sum(step.latency_ms for step in window)
            yield Pattern(kind="tool_sequence", key=" > ".join(tools), parts=tools, latency_ms=latency_ms)


def _decision_points(steps: tuple[EpisodeStep, ...]) -> Iterator[Pattern]:
    """What was done after a question was put to the work, by the answer that came."""
    for asked, then in pairwise(steps):
        words = _ASKING.intersection(_WORD.findall(asked.action.lower()))
        if words:
            condition = f"{asked.tool} {min(words)}: {asked.result}"
            key = f"{condition} > {then.tool}"
            yield Pattern(kind="decision_point", key=key, parts=(condition, then.tool), latency_ms=then.latency_ms)


def _error_recoveries(steps: tuple[EpisodeStep, ...]) -> Iterator[Pattern]:
    """What was done between an error of a tool and its next success; the error by its signature."""
    for place, failed in enumerate(steps):
        if failed.result == "success" or not failed.signature:
            continue
        rest = steps[place + 1 :]
        again = next(
            (at for at, step in enumerate(rest) if step.tool == failed.tool and step.result == "success"), None
        )
        if again is None:
            continue
        way = tuple(step.tool for step in _without_repeats(rest[: again + 1]))[:LONGEST]
        latency_ms = sum(step.latency_ms for step in rest[: again + 1])
        key = f"{failed.signature} > {' > '.join(way)}"
        yield Pattern(kind="error_recovery", key=key, parts=(failed.signature, *way), latency_ms=latency_ms)


def _contexts(episode: Episode) -> Iterator[Pattern]:
    """In which circumstances somebody worked, and with what: the agent and the first tools it used."""
    around = episode.start.circumstances
    features = tuple(
        f"{name}:{value}"
        for name, value in (
            ("kind", episode.start.kind),
            ("language", around.language),
            ("framework", around.framework),
            ("domain", around.domain),
        )
        if value and value not in ("general", "other")
    )
    tools = tuple(dict.fromkeys(step.tool for step in episode.steps))[:3]
    approach = " with ".join(filter(None, (episode.start.agent, ", ".join(tools))))
    if features and approach:
        yield Pattern(
            kind="context",
            key=f"{' '.join(features)} > {approach}",
            parts=(*features, approach),
            latency_ms=episode.end.duration_ms if episode.end else 0,
        )


def _without_repeats(steps: tuple[EpisodeStep, ...]) -> tuple[EpisodeStep, ...]:
    return tuple(step for before, step in pairwise((None, *steps)) if step and (not before or before.tool != step.tool))


def _joined(one: Pattern, other: Pattern) -> Pattern:
    """Two counts of the same thing as one: what was averaged is averaged by how often each was seen."""
    new = [name for name in other.episodes if name not in one.episodes]
    if other.episodes and not new:  # the same episode told again
        return one
    seen = one.seen + other.seen
    return replace(
        one,
        seen=seen,
        passed=one.passed + other.passed,
        latency_ms=(one.latency_ms * one.seen + other.latency_ms * other.seen) / seen,
        last_at=max(one.last_at, other.last_at),
        episodes=(*one.episodes, *new)[-MOST_EPISODES:],
    )
