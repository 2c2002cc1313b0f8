"""How agents fared: what each made of the tasks that it was given, as the episodes of its attempts tell. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from milepost.core.memories import Took
from milepost.core.verdict import Verdict
from milepost.engine.records.run_spec import PARTS, RECIPE


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """What one agent made of one task in one run, over all its attempts; `passed` is None where nobody could tell."""

    run: str
    task: str
    agent: str
    kind: str
    size: str
    risky: bool
    passed: bool | None
    attempts: int
    seconds: float
    cost_usd: float


def trials_of(episodes: Iterable[Took], under_way: Collection[tuple[str, str]] = ()) -> tuple[AgentResult, ...]:
    """The trials that attempts add up to, in their order; tasks `under_way`, by run and name, tell nothing yet."""
    groups: dict[tuple[str, str, str], list[Took]] = {}
    for episode in episodes:
        # That its parts were done by others says nothing for who did not get the task done whole.
        if episode.agent != PARTS and (episode.run, episode.task) not in under_way:
            groups.setdefault((episode.owner, episode.run, episode.task), []).append(episode)
    return tuple(trial for group in groups.values() for trial in _trials(_mended(group)))


def _mended(attempts: Sequence[Took]) -> list[Took]:
    """The attempts of agents, each ended as what recipes made of it."""
    found: list[Took] = []
    for attempt in sorted(attempts, key=lambda one: one.attempt):
        if not attempt.agent.startswith(RECIPE):
            found.append(attempt)
        elif found:
            found[-1] = replace(found[-1], verdict=attempt.verdict, judged=attempt.judged)
    return found


def _trials(attempts: Sequence[Took]) -> Iterable[AgentResult]:
    for agent in dict.fromkeys(attempt.agent for attempt in attempts):
        own = [attempt for attempt in attempts if attempt.agent == agent]
        last = own[-1]
        yield AgentResult(
            run=last.run,
            task=last.task,
            agent=agent,
            kind=_tagged(last.tags, "kind:") or "code",
            size=_tagged(last.tags, "size:") or "medium",
            risky="risky" in last.tags,
            passed=last.verdict is Verdict.PASSED if last.judged else None,
            attempts=len(own),
            seconds=sum(attempt.duration_ms for attempt in own) / 1000,
            cost_usd=sum(attempt.cost_usd for attempt in own),
        )


def _tagged(tags: Sequence[str], name: str) -> str:
    return next((tag.removeprefix(name) for tag in tags if tag.startswith(name)), "")
