"""The timeline: the stages of each task as bars, and a scale on which times of rest take no room. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from milepost.core.events import AttemptFinished, GateOpened, MilepostMade, StageStarted, TaskFinished
from milepost.engine.records.journal import Entry
from milepost.engine.report.facts import Bar

SHORTEST_REST_S = 60.0
REST_SHARE = 0.1  # a rest shorter than this share of the work is shown at its length


def bars_of(entries: Sequence[Entry], until: float, *, at_work: bool) -> dict[str, tuple[Bar, ...]]:
    """The bars of each task. A stage lasts until the task's next one, its end, or `until`."""
    open_: dict[str, tuple[StageStarted, float]] = {}
    bars: dict[str, list[Bar]] = {}

    def close(task: str, at: float, *, still: bool = False) -> None:
        if task in open_:
            stage, began = open_.pop(task)
            bar = Bar(attempt=stage.attempt, stage=stage.stage, began=began, ended=max(began, at), open=still)
            bars.setdefault(task, []).append(bar)

    for entry in entries:
        match entry.event:
            case StageStarted() as stage:
                close(stage.task, entry.at)
                open_[stage.task] = (stage, entry.at)
            case AttemptFinished() | MilepostMade() | TaskFinished() | GateOpened() as ended:
                close(ended.task, entry.at)
    for task in [*open_]:
        close(task, until, still=at_work)
    return {task: tuple(found) for task, found in bars.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """A time in which nothing was done, and where it stands on the scale."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Moments to a place from 0 to 1; times of rest are cut out of it."""

    spans: tuple[tuple[float, float], ...]

    @property
    def seconds(self) -> float:
        """How much time the scale shows."""
        return sum(end - begin for begin, end in self.spans)

    def place(self, moment: float) -> float:
        total = self.seconds
        passed = sum(max(0.0, min(moment, end) - begin) for begin, end in self.spans)
        return passed / total if total else 0.0

    @property
    def rests(self) -> tuple[Rest, ...]:
        pairs = zip(self.spans, self.spans[1:], strict=False)
        return tuple(Rest(at=self.place(end), seconds=begin - end) for (_, end), (begin, _) in pairs)


def scale_of(bars: Mapping[str, Iterable[Bar]]) -> Scale:
    """The scale for these bars: from the first beginning to the last end, without the long rests between."""
    times = sorted((bar.began, bar.ended) for found in bars.values() for bar in found)
    work: list[tuple[float, float]] = []
    for began, ended in times:
        if work and began <= work[-1][1]:
            work[-1] = (work[-1][0], max(work[-1][1], ended))
        else:
            work.append((began, ended))
    longest = max(SHORTEST_REST_S, REST_SHARE * sum(end - begin for begin, end in work))
    spans: list[tuple[float, float]] = []
    for began, ended in work:
        if spans and began - spans[-1][1] <= longest:
            spans[-1] = (spans[-1][0], ended)
        else:
            spans.append((began, ended))
    return Scale(spans=tuple(spans))
