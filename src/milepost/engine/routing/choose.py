"""Who does a task, among several agents that could: pure, so that the same facts give the same choice.

A pattern that fits goes first, then whom the settings fix for such tasks, then as the mode says. Measured, an agent
is judged by how many tasks like this one it did here: of its kind, size and risk, filled up, where those are few, with
what it did of the kind and of all. Of equally good ones the cheaper is taken. Tasks that say nothing of an agent do not
count for it or against it, but it was given them: who was given some and could not be judged by any is taken last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from milepost.engine.records.run_spec import Routing
from milepost.engine.routing.track_record import AgentResult
from milepost.plan.advice.traits import Traits

Mode = Literal["pattern", "fixed", "round-robin", "measured"]

NEW = 3  # tasks that an agent is given before it is judged
_WEIGHT = 2.0  # tasks that the wider record of an agent counts for, beside the narrower one
_AS_GOOD = 0.05  # rates no further apart than this count as the same


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingQuestion:
    """All that a choice depends on.

    `pattern` is one that fits the task, `last` whose turn it was last, `busy` who is at tasks now, one for each task.
    `dice` is what chance depends on, empty where nothing is left to chance.
    """

    routing: Routing
    traits: Traits
    trials: tuple[AgentResult, ...] = ()
    pattern: str = ""
    last: str = ""
    busy: tuple[str, ...] = ()
    dice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Who does a task, and why; `considered` are all that could, in the order in which they are gone on with."""

    agent: str
    reason: str
    mode: Mode
    considered: tuple[str, ...]

    @property
    def fallback(self) -> tuple[str, ...]:
        """Who goes on with the task when the chosen one does not get further."""
        return tuple(name for name in self.considered if name != self.agent)


def choose(asked: RoutingQuestion) -> Choice:
    """The agent for a task."""
    routing = asked.routing
    if asked.pattern:
        return _chosen(asked.pattern, "the task has exactly the inputs of this pattern", "pattern", routing.agents)
    for trait in asked.traits.by_weight:
        if trait in routing.fixed:
            return _chosen(routing.fixed[trait], f"set for {trait} tasks", "fixed", routing.agents)
    match routing.mode:
        case "fixed":
            return _chosen(routing.agents[0], "the first that can work here", "fixed", routing.agents)
        case "round-robin":
            return _in_turn(routing.agents, asked.last)
        case "measured":
            return _measured(asked)
        case _ as never:
            assert_never(never)


def _chosen(agent: str, reason: str, mode: Mode, order: Sequence[str]) -> Choice:
    return Choice(agent=agent, reason=reason, mode=mode, considered=tuple(dict.fromkeys((agent, *order))))


def _in_turn(agents: tuple[str, ...], last: str) -> Choice:
    place = (agents.index(last) + 1) % len(agents) if last in agents else 0
    reason = f"its turn, after {last}" if last in agents else "its turn, the first"
    return _chosen(agents[place], reason, "round-robin", agents[place:] + agents[:place])


def _measured(asked: RoutingQuestion) -> Choice:
    """A new one where there is one, now and then whoever did least of the kind, else the best."""
    kind, curious = asked.traits.kind, asked.routing.explore > 0 and not asked.traits.risky
    records = [_record(name, asked) for name in asked.routing.agents]
    ranked = _ranked(records, as_good=0.0 if asked.traits.risky else _AS_GOOD)
    names = [record.agent for record in ranked]
    newest = min(records, key=lambda record: record.seen)
    if curious and newest.seen < NEW:
        reason = f"new here: {_counted(newest.seen, 'task')} of {NEW} before it is compared with others"
        return _chosen(newest.agent, reason, "measured", names)
    rarest = min(records, key=lambda record: record.seen_of_kind)
    if curious and rarest is not ranked[0] and _chance(asked.dice) < asked.routing.explore:
        reason = f"exploring: it had the fewest {kind} tasks, {rarest.seen_of_kind}; best is {_told(ranked[0], kind)}"
        return _chosen(rarest.agent, reason, "measured", names)
    best, *others = ranked
    reason = "; ".join([best.sentence(kind), *(_told(other, kind, short=True) for other in others)])
    return _chosen(best.agent, reason, "measured", names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """How one agent fared: `rate` is what share of such tasks it is expected to do, `usd` what one takes.

    `tried` are the tasks that it was judged by, `unjudged` those that say nothing of it.
    """

    agent: str
    passed: int
    tried: int
    passed_of_kind: int
    tried_of_kind: int
    unjudged: int
    unjudged_of_kind: int
    busy: int
    rate: float
    usd: float

    @property
    def seen(self) -> int:
        return self.tried + self.unjudged + self.busy

    @property
    def seen_of_kind(self) -> int:
        return self.tried_of_kind + self.unjudged_of_kind + self.busy

    @property
    def known(self) -> bool:
        """Whether it was judged, or may still be; not so where it was given enough for that in vain."""
        return self.tried > 0 or self.unjudged < NEW

    def sentence(self, kind: str, *, short: bool = False) -> str:
        """`9 of 11 docs tasks passed, $0.12 each`."""
        cost = f", ${self.usd:.2f}{'' if short else ' each'}" if self.usd else ""
        if self.tried_of_kind:
            words = "" if short else f" {kind} tasks passed"
            return f"{self.passed_of_kind} of {self.tried_of_kind}{words}{cost}"
        if self.tried:
            return f"no {kind} task yet, {self.passed} of {self.tried} others{'' if short else ' passed'}{cost}"
        return f"{_counted(self.unjudged, 'task')}, none judged" if self.unjudged else "no task yet"


def _record(agent: str, asked: RoutingQuestion) -> _Record:
    traits = asked.traits
    given = [trial for trial in asked.trials if trial.agent == agent]
    unjudged = [trial for trial in given if trial.passed is None]
    own = [trial for trial in given if trial.passed is not None]
    of_kind = [trial for trial in own if trial.kind == traits.kind]
    alike = [trial for trial in of_kind if trial.size == traits.size and trial.risky == traits.risky]
    rate = 0.5
    for trials in (own, of_kind, alike):
        rate = (_passed(trials) + _WEIGHT * rate) / (len(trials) + _WEIGHT)
    paid = of_kind or own
    return _Record(
        agent=agent,
        passed=_passed(own),
        tried=len(own),
        passed_of_kind=_passed(of_kind),
        tried_of_kind=len(of_kind),
        unjudged=len(unjudged),
        unjudged_of_kind=sum(trial.kind == traits.kind for trial in unjudged),
        busy=asked.busy.count(agent),
        rate=rate,
        usd=sum(trial.cost_usd for trial in paid) / len(paid) if paid else 0.0,
    )


def _passed(trials: Sequence[AgentResult]) -> int:
    return sum(trial.passed is True for trial in trials)


def _ranked(records: Sequence[_Record], *, as_good: float) -> list[_Record]:
    """The best first; of those that are as good as the best of what is left, the cheapest."""
    left, ranked = list(records), []
    while left:
        able = [record for record in left if record.known] or left
        best = max(record.rate for record in able)
        equals = [record for record in able if record.rate >= best - as_good]
        ranked.append(min(equals, key=lambda record: record.usd))
        left.remove(ranked[-1])
    return ranked


def _chance(dice: str) -> float:
    """A number from 0 to 1 that is always the same for the same dice; 1 where nothing is left to chance."""
    return int.from_bytes(hashlib.sha256(dice.encode()).digest()[:8]) / 2**64 if dice else 1.0


def _told(record: _Record, kind: str, *, short: bool = False) -> str:
    return f"{record.agent} {record.sentence(kind, short=short)}"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
