"""A forecast: what tasks will take, from what similar ones took. Pure, and the same each time it is asked for.

What one task took in one run, over all its attempts, is a trial. Each task of the forecast draws from the trials
that are most like it, many times over; the sums give a middle and the bounds that eight of ten futures stay within.
Few trials make the bounds wider: they may all have been lucky.
"""

from __future__ import annotations

import heapq
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

from milepost.core.events import ForecastMade
from milepost.core.memories import Took
from milepost.core.task import Plan, Task

NOTHING_SIMILAR = "no forecast: no similar tasks were done here yet"
RECIPE = "recipe:"  # attempts that no agent made: they belong to the one before

_FUTURES = 400
_MOST_DRAWS = 60_000  # a roadmap of a thousand tasks is answered at once, too
_MOST_TRIALS = 40
_ALIKE = 0.5  # share of words that two titles have in common
_FEW = 0.7  # how far off one trial alone may be, as the spread of a logarithm


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastInputs:
    """What a forecast depends on beside the plan: who works, and how many at once."""

    agent: str
    parallel: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is expected, with the bounds that eight of ten futures stay within.

    `foreseen` of the `tasks` have something to be compared with; `similar` attempts were looked at. `seconds_by_task`
    is the middle of what those took that a task is compared with.
    """

    tasks: int
    foreseen: int
    similar: int
    parallel: int
    usd_low: float
    usd: float
    usd_high: float
    seconds_low: float
    seconds: float
    seconds_high: float
    seconds_by_task: Mapping[str, float] = field(default_factory=dict)

    def event(self, run: str) -> ForecastMade:
        """The forecast as the run tells of it."""
        return ForecastMade(
            run=run,
            tasks=self.tasks,
            similar=self.similar,
            usd_low=self.usd_low,
            usd=self.usd,
            usd_high=self.usd_high,
            seconds_low=self.seconds_low,
            seconds=self.seconds,
            seconds_high=self.seconds_high,
        )


def forecast_of(plan: Plan, wanted: Sequence[str], facts: ForecastInputs, episodes: Sequence[Took]) -> Forecast | None:
    """What the wanted tasks of a plan will take; None where nothing similar was done yet."""
    trials = _trials(episodes)
    chosen = frozenset(wanted)
    tasks = [plan.task(name) for wave in plan.waves for name in wave if name in chosen]
    likened = {task.id: _similar(task, task.agent or facts.agent, trials) for task in tasks}
    foreseen = [task for task in tasks if likened[task.id].trials]
    if not foreseen:
        return None
    before = plan.before()
    dice = random.Random(0)  # noqa: S311 - the same question gets the same answer
    futures = [
        _future(foreseen, likened, before, facts.parallel, dice)
        for _ in range(max(40, min(_FUTURES, _MOST_DRAWS // len(foreseen))))
    ]
    used = {trial for one in likened.values() for trial in one.trials}
    usd_low, usd, usd_high = _middle([usd for usd, _ in futures])
    seconds_low, seconds, seconds_high = _middle([seconds for _, seconds in futures])
    return Forecast(
        tasks=len(tasks),
        foreseen=len(foreseen),
        similar=sum(trial.attempts for trial in used),
        parallel=facts.parallel,
        usd_low=usd_low,
        usd=usd,
        usd_high=usd_high,
        seconds_low=seconds_low,
        seconds=seconds,
        seconds_high=seconds_high,
        seconds_by_task={task.id: median(trial.seconds for trial in likened[task.id].trials) for task in foreseen},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    run: str
    task: str
    title: str
    words: frozenset[str]
    agent: str
    usd: float
    seconds: float
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Likened:
    """The trials that a task is compared with, and how far off all of them may be together."""

    trials: tuple[_Trial, ...]
    spread: float


def _trials(episodes: Sequence[Took]) -> list[_Trial]:
    """What tasks took in earlier runs, newest last; what cannot be added up is left out."""
    groups: dict[tuple[str, str], list[Took]] = {}
    for episode in episodes:
        if math.isfinite(episode.cost_usd) and episode.cost_usd >= 0 and episode.duration_ms >= 0:
            groups.setdefault((episode.run, episode.task), []).append(episode)
    trials = []
    for (run, task), group in groups.items():
        own = [episode for episode in group if not episode.agent.startswith(RECIPE)]
        if own:
            trials.append(
                _Trial(
                    run=run,
                    task=task,
                    title=_as_compared(own[0].title),
                    words=_words(own[0].title),
                    agent=own[0].agent,
                    usd=sum(episode.cost_usd for episode in group),
                    seconds=sum(episode.duration_ms for episode in group) / 1000,
                    attempts=len(own),
                )
            )
    return trials


def _similar(task: Task, agent: str, trials: Sequence[_Trial]) -> _Likened:
    """The trials most like a task: of its title, else of words like its title's, else all of its agent."""
    own = [trial for trial in trials if trial.agent == agent]
    title, words = _as_compared(task.title), _words(task.title)
    same = [trial for trial in own if trial.title == title]
    alike = same or [trial for trial in own if _in_common(trial.words, words) >= _ALIKE]
    chosen = tuple((alike or own)[-_MOST_TRIALS:])
    doubt = 1.0 if alike else 1.5
    return _Likened(trials=chosen, spread=doubt * _FEW / math.sqrt(max(1, len(chosen))))


def _as_compared(title: str) -> str:
    """A title as it is compared: neither case nor spacing matters."""
    return " ".join(title.casefold().split())


def _words(title: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", _as_compared(title)))


def _in_common(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _future(
    tasks: Sequence[Task],
    likened: Mapping[str, _Likened],
    before: Mapping[str, tuple[str, ...]],
    parallel: int,
    dice: random.Random,
) -> tuple[float, float]:
    """What the tasks cost and how long they take, once; all trials are off in the same direction."""
    luck = dice.gauss(0.0, 1.0)
    usd = 0.0
    seconds = {}
    for task in tasks:
        like = likened[task.id]
        trial = dice.choice(like.trials)
        off = math.exp(luck * like.spread)
        usd += trial.usd * off
        seconds[task.id] = trial.seconds * off
    return usd, _wall_time(tasks, seconds, before, parallel)


def _wall_time(
    tasks: Sequence[Task], seconds: Mapping[str, float], before: Mapping[str, tuple[str, ...]], parallel: int
) -> float:
    """How long it takes to do tasks in this order, so many at once, each after what it waits for."""
    free = [0.0] * max(1, parallel)
    ended: dict[str, float] = {}
    released: dict[str, float] = {}
    for task in tasks:
        waits = [ended.get(name, 0.0) for name in before[task.id]]
        waits += [released.get(file, 0.0) for file in task.files]
        end = max([heapq.heappop(free), *waits]) + seconds[task.id]
        heapq.heappush(free, end)
        ended[task.id] = end
        released.update(dict.fromkeys(task.files, end))
    return max(ended.values(), default=0.0)


def _middle(values: Sequence[float]) -> tuple[float, float, float]:
    """The values that a tenth, half and nine tenths of all stay below."""
    tenths = quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[4], tenths[8]
