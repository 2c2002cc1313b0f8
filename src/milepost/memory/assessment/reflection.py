"""What measured facts say of an episode: what went well, what could be better, what is worth knowing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from milepost.core.memories import UNJUDGED, Episode, EpisodeStep, Reflection

_QUICK_S, _SLOW_S = 30, 300
_MANY_STEPS = 50
_BOTTLENECK, _BOTTLENECK_MS = 3.0, 1_000
_OFTEN = 5


def reflect(episode: Episode) -> Reflection:
    """The facts of an ended episode in a few lines; nothing of one that is open."""
    if episode.end is None:
        return Reflection()
    return Reflection(
        successes=tuple(_successes(episode)),
        improvements=tuple(_improvements(episode)),
        insights=tuple(_insights(episode)),
    )


def _successes(episode: Episode) -> Iterator[str]:
    assert episode.end is not None
    steps, seconds = episode.steps, episode.end.duration_ms / 1000
    if episode.passed:
        yield "it was verified"
    passed = sum(step.result == "success" for step in steps)
    if steps and passed / len(steps) >= 0.8:
        yield f"{passed} of {len(steps)} steps succeeded"
    if episode.passed and len(steps) >= 3:
        yield f"it began with {' → '.join(step.tool for step in steps[:3])}"
    if episode.passed and seconds < _QUICK_S:
        yield f"it took {seconds:.0f} s"


def _improvements(episode: Episode) -> Iterator[str]:
    assert episode.end is not None
    steps, seconds = episode.steps, episode.end.duration_ms / 1000
    failed = Counter(step.tool for step in steps if step.result != "success")
    yield from (f"{tool} failed {count} times" for tool, count in sorted(failed.items()) if count >= 2)
    errors = Counter(step.signature for step in steps if step.signature)
    yield from (
        f"the same error occurred {count} times: {error}" for error, count in sorted(errors.items()) if count >= 2
    )
    if seconds > _SLOW_S:
        yield f"it took {seconds:.0f} s"
    if len(steps) > _MANY_STEPS:
        yield f"it took {len(steps)} steps"


def _insights(episode: Episode) -> Iterator[str]:
    steps = episode.steps
    if (slow := _bottleneck(steps)) is not None:
        yield f"step {slow.number} ({slow.tool}) took {slow.latency_ms / 1000:.1f} s, far more than the others"
    used = Counter(step.tool for step in steps)
    yield from (f"{tool} was used {count} times" for tool, count in sorted(used.items()) if count >= _OFTEN)
    signals = [signal for signal in episode.end.signals if signal != UNJUDGED] if episode.end is not None else []
    if signals:
        yield f"it was abandoned because of {', '.join(signals)}"


def _bottleneck(steps: tuple[EpisodeStep, ...]) -> EpisodeStep | None:
    """The step that took far longer than the others on average."""
    if len(steps) < 2:
        return None
    slowest = max(steps, key=lambda step: step.latency_ms)
    others = (sum(step.latency_ms for step in steps) - slowest.latency_ms) / (len(steps) - 1)
    is_one = slowest.latency_ms > _BOTTLENECK_MS and slowest.latency_ms > _BOTTLENECK * others
    return slowest if is_one else None
