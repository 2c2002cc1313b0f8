"""How a run gets on: what is done, at work, blocked, waiting for whom; how fast, and how it will end. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from milepost.core.budget import Budget, Spent
from milepost.core.events import (
    AgentSaid,
    AttemptFinished,
    BudgetReached,
    Event,
    ForecastMade,
    GateAnswered,
    GateOpened,
    RunStarted,
    ServiceWaits,
    StageStarted,
    Steered,
    TaskFinished,
)
from milepost.core.task import Plan, Wait
from milepost.core.verdict import Verdict
from milepost.engine.records.journal import Entry
from milepost.engine.records.steering import Halt, ended_tasks, halt_of, is_added, is_set_aside

WaitKind = Literal["person", "service", "budget"]

_TRUST_IN_FORECAST = 2  # ended tasks that weigh as much as what was foretold
_TELLING_S = 60.0  # of work, before which a rate says nothing
_NOT_NOW = "service cannot be asked now"


@dataclass(frozen=True, slots=True, kw_only=True)
class InWork:
    """A task at work: its stage, and the last that its agent said."""

    stage: StageStarted
    since: float
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A task that cannot begin before another one; `lost` when that one ended without a milepost."""

    task: str
    by: str
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitReason:
    """What a run, or one task of it, waits for; `until` when, in seconds since 1970, where that is known."""

    kind: WaitKind
    task: str
    what: str
    gate: str = ""
    until: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How a run stands. `roadmap_tasks` and `roadmap_done` count the whole file, also what other runs did.

    `held` are tasks whose work waits for a person after the run, `accepted` those that their owner took unproven,
    `set_aside` the tasks to which a person said no; `halt` says that nothing new begins; `steered` is what people
    changed, in its order. `worked_s` is by the clock, `tried_s` what ended attempts took, added up.
    `velocity` is in tasks an hour of work. `left_s` and `usd_at_end` are estimates, None while there is nothing to
    tell from; `behind_s` is how much later it ends than the forecast said, `over_usd` how much dearer.
    """

    asked: int
    passed: tuple[str, ...]
    lost: tuple[str, ...]
    set_aside: tuple[str, ...]
    held: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    in_work: tuple[InWork, ...]
    waiting: tuple[WaitReason, ...]
    blocked: tuple[Blocked, ...]
    to_do: tuple[str, ...]
    roadmap_tasks: int
    roadmap_done: int
    halt: Halt
    steered: tuple[Steered, ...]
    worked_s: float
    tried_s: float
    spent: Spent
    budget: Budget
    velocity: float | None
    left_s: float | None
    usd_at_end: float | None
    forecast: ForecastMade | None

    @property
    def behind_s(self) -> float | None:
        if self.forecast is None or self.left_s is None:
            return None
        return self.worked_s + self.left_s - self.forecast.seconds

    @property
    def over_usd(self) -> float | None:
        if self.forecast is None or self.usd_at_end is None:
            return None
        return self.usd_at_end - self.forecast.usd


def progress_of(
    entries: Sequence[Entry], plan: Plan, *, worked_s: float, spent: Spent, budget: Budget, over: bool = False
) -> Progress:
    """How a run stands by what is written down; `plan` is the roadmap as it is now, `over` says that it ended."""
    events = [entry.event for entry in entries]
    ended = ended_tasks(events)
    passed = tuple(name for name, event in ended.items() if event.verdict is Verdict.PASSED)
    aside = tuple(name for name, event in ended.items() if is_set_aside(event.verdict, event.reason))
    accepted = tuple(name for name, event in ended.items() if event.commit and name not in passed)
    held = tuple(name for name, event in ended.items() if event.verdict is Verdict.HELD and not event.commit)
    lost = tuple(name for name in ended if name not in {*passed, *aside, *accepted, *held})
    waiting = () if over else _waiting(entries, frozenset(ended))
    in_work = () if over else _in_work(entries, frozenset(ended), frozenset(one.task for one in waiting))
    asked = _asked(events)
    begun = {one.stage.task for one in in_work} | {one.task for one in waiting if one.task}
    idle = [] if over else [name for name in asked if name not in ended and name not in begun]
    met = frozenset((*passed, *accepted))
    blocked = _blocked(plan, idle, met, frozenset((*lost, *held, *aside)), frozenset(asked))
    held_up = {one.task for one in blocked}
    steered = tuple(event for event in events if isinstance(event, Steered))
    forecast = next((event for event in reversed(events) if isinstance(event, ForecastMade)), None)
    tried = [event for event in ended.values() if event.attempts]
    remaining = 0 if over else len(asked) - len(ended) - sum(one.lost for one in blocked)
    return Progress(
        asked=len(asked),
        passed=passed,
        lost=lost,
        set_aside=aside,
        held=held,
        accepted=accepted,
        in_work=in_work,
        waiting=waiting,
        blocked=blocked,
        to_do=tuple(name for name in idle if name not in held_up),
        roadmap_tasks=len(plan.tasks),
        roadmap_done=len({task.id for task in plan.tasks if task.status == "done"}),
        halt="" if over else halt_of(event.what for event in steered if not event.task),
        steered=steered,
        worked_s=worked_s,
        tried_s=sum(event.duration_ms for event in events if isinstance(event, AttemptFinished)) / 1000,
        spent=spent,
        budget=budget,
        velocity=len(tried) / worked_s * 3600 if tried and worked_s >= _TELLING_S else None,
        left_s=_more(worked_s, len(tried), remaining, _each(forecast.seconds, forecast) if forecast else None),
        usd_at_end=_usd_at_end(tried, remaining, spent, forecast),
        forecast=forecast,
    )


def _asked(events: Sequence[Event]) -> tuple[str, ...]:
    """The tasks of the run: those it began with, and those that came to it since."""
    names: dict[str, None] = {}
    for event in events:
        if isinstance(event, RunStarted):
            names.update(dict.fromkeys(event.tasks))
        elif isinstance(event, StageStarted | TaskFinished | GateOpened) or (
            isinstance(event, Steered) and is_added(event)
        ):
            names[event.task] = None
    return tuple(names)


def _in_work(entries: Sequence[Entry], ended: frozenset[str], waiting: frozenset[str]) -> tuple[InWork, ...]:
    stages: dict[str, InWork] = {}
    for entry in entries:
        match entry.event:
            case StageStarted(task=task) if task not in ended and task not in waiting:
                stages[task] = InWork(stage=entry.event, since=entry.at)
            case AgentSaid(task=task, text=text) if task in stages:
                stages[task] = InWork(stage=stages[task].stage, since=stages[task].since, said=text)
            case _:
                pass
    return tuple(stages.values())


def _waiting(entries: Sequence[Entry], ended: frozenset[str]) -> tuple[WaitReason, ...]:
    """People who are asked, a service at its limit, a wall that was reached: as far as nothing came after it."""
    people: dict[str, WaitReason] = {}
    services: dict[str, WaitReason] = {}
    walls: dict[str, WaitReason] = {}
    for entry in entries:
        match entry.event:
            case GateOpened(task=task, gate=gate, question=question):
                people[gate] = WaitReason(kind="person", task=task, what=question, gate=gate)
            case GateAnswered(gate=gate):
                people.pop(gate, None)
            case TaskFinished(task=task):  # its gates are withdrawn, should it come back
                people = {gate: one for gate, one in people.items() if one.task != task}
            case AttemptFinished(task=task, reason=reason) if _NOT_NOW in reason:
                services[task] = WaitReason(kind="service", task=task, what=reason.partition("\n")[0])
            case ServiceWaits(task=task, what=what, until=until):
                services[task] = WaitReason(kind="service", task=task, what=what, until=until)
            case BudgetReached(scope="run", message=message):
                walls["run"] = WaitReason(kind="budget", task="", what=message)
            case StageStarted(task=task):
                services.pop(task, None)
                walls.clear()
            case _:
                pass
    found = (*people.values(), *services.values(), *walls.values())
    return tuple(one for one in found if one.task not in ended)


def _blocked(
    plan: Plan, idle: Sequence[str], passed: frozenset[str], lost: frozenset[str], asked: frozenset[str]
) -> tuple[Blocked, ...]:
    """The tasks that wait for others, and the first one that each waits for: a lost one before all."""
    met = passed | {task.id for task in plan.tasks if task.status == "done"}
    stated = {task.id: task.depends_on for task in plan.tasks}
    inferred: dict[str, list[Wait]] = {}
    for wait in plan.waits:
        if wait.after in asked:
            inferred.setdefault(wait.task, []).append(wait)
    gone = set(lost)
    found: list[Blocked] = []
    for name in _in_plan_order(plan, idle):
        waits = [other for other in stated.get(name, ()) if other not in met]
        # What its files import is only waited for while it may still be done.
        more = (wait.after for wait in inferred.get(name, ()) if wait.why == "outline" or wait.after not in gone)
        waits += [other for other in more if other not in met]
        hopeless = next((other for other in waits if other in gone), None)
        if hopeless is not None:
            gone.add(name)
        if waits:
            found.append(Blocked(task=name, by=hopeless or waits[0], lost=hopeless is not None))
    return tuple(found)


def _in_plan_order(plan: Plan, names: Sequence[str]) -> list[str]:
    place = {name: number for number, name in enumerate(name for wave in plan.waves for name in wave)}
    return sorted(names, key=lambda name: place.get(name, len(place)))


def _each(whole: float, forecast: ForecastMade) -> float:
    return whole / max(1, forecast.tasks)


def _more(so_far: float, ended: int, remaining: int, foretold: float | None) -> float | None:
    """What the remaining tasks will take when each takes as much as the ended ones, or as was foretold of each."""
    if not remaining:
        return 0.0
    weight = 0 if foretold is None else _TRUST_IN_FORECAST
    if not ended + weight:
        return None
    return remaining * ((so_far if ended else 0.0) + weight * (foretold or 0.0)) / (ended + weight)


def _usd_at_end(
    tried: Sequence[TaskFinished], remaining: int, spent: Spent, forecast: ForecastMade | None
) -> float | None:
    so_far = sum(event.cost_usd for event in tried)
    more = _more(so_far, len(tried), remaining, _each(forecast.usd, forecast) if forecast else None)
    return None if more is None else max(spent.usd, so_far + more)
