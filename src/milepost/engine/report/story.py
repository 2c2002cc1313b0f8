"""The story of a run, put together from its record, its events and its attempts. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from milepost.core.attempt import Attempt
from milepost.core.events import (
    EVENTS_VERSION,
    AgentChosen,
    GateAnswered,
    GateOpened,
    LessonsTold,
    RunStarted,
    StageStarted,
    Steered,
    TaskFinished,
    WorkerChanged,
)
from milepost.engine.records.journal import Entry, RunRecord
from milepost.engine.report.bars import bars_of
from milepost.engine.report.costs import costs_of
from milepost.engine.report.diffs import Diff
from milepost.engine.report.facts import GateStory, Happening, RunState, RunStory
from milepost.engine.report.tasks import task_story


def tell(
    record: RunRecord,
    entries: Sequence[Entry],
    attempts: Mapping[str, Sequence[Attempt]],
    *,
    running: bool,
    titles: Mapping[str, str],
    diffs: Mapping[str, Diff],
    now: float,
    version: str,
) -> RunStory:
    """The story of a run as it stands now; `titles` are those of the roadmap that it began with."""
    state = _state(record, running)
    started = _started(entries)
    gates = _gates(entries)
    last = entries[-1].at if entries else record.started_at
    bars = bars_of(entries, now if state == "running" else last, at_work=state == "running")
    by_task = _by_task(entries)
    order, summary = record.order, record.summary
    return RunStory(
        run=record.run,
        roadmap=str(order.get("roadmap", "")),
        state=state,
        made_at=now,
        version=version,
        events_version=EVENTS_VERSION,
        started_at=record.started_at,
        ended_at=record.finished_at,
        branch=started.branch if started else f"milepost/{record.run}",
        base=started.base if started else str(order.get("base", "")),
        base_name=started.base_name if started else "",
        head=summary.head if summary else "",
        agent=started.agent if started else str(order.get("agent", "")),
        trust=started.trust if started else str(order.get("trust", "")),
        parallel=started.parallel if started else 1,
        taken_in=summary.fast_forwarded if summary else "",
        by_hand=summary.by_hand if summary else "",
        tasks=tuple(
            task_story(
                task,
                titles.get(task, ""),
                record,
                by_task.get(task, ()),
                attempts.get(task, ()),
                bars=bars.get(task, ()),
                diff=diffs.get(task),
                asking=any(gate.task == task and not gate.answer for gate in gates),
            )
            for task in task_ids(record, entries)
        ),
        gates=gates,
        happenings=_happenings(entries),
        costs=costs_of(record, entries),
    )


def task_ids(record: RunRecord, entries: Sequence[Entry]) -> tuple[str, ...]:
    """The tasks of a run: those it was asked for in their order, then those it found on the way."""
    asked = _started(entries)
    ordered = (*(asked.tasks if asked else ()), *map(str, record.order.get("tasks", ())))
    found = (entry.event.task for entry in entries if isinstance(entry.event, StageStarted | TaskFinished | GateOpened))
    listed = (task.id for task in record.summary.tasks) if record.summary else ()
    return tuple(dict.fromkeys((*ordered, *found, *listed)))


def _state(record: RunRecord, running: bool) -> RunState:
    if record.summary is not None:
        return "finished"
    if record.left_at is not None:
        return "left"
    return "running" if running else "interrupted"


def _started(entries: Sequence[Entry]) -> RunStarted | None:
    return next((entry.event for entry in entries if isinstance(entry.event, RunStarted)), None)


def _by_task(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    grouped: dict[str, list[Entry]] = {}
    for entry in entries:
        if task := getattr(entry.event, "task", ""):
            grouped.setdefault(task, []).append(entry)
    return grouped


def _gates(entries: Sequence[Entry]) -> tuple[GateStory, ...]:
    """The gates in the order they were opened, each with its last answer."""
    answers = {entry.event.gate: entry for entry in entries if isinstance(entry.event, GateAnswered)}
    gates = {}
    for entry in entries:
        match entry.event:
            case GateOpened() as asked:
                answered = answers.get(asked.gate)
                answer = answered.event if answered and isinstance(answered.event, GateAnswered) else None
                gates[asked.gate] = GateStory(
                    task=asked.task,
                    gate=asked.gate,
                    kind=asked.kind,
                    question=asked.question,
                    shown=asked.shown,
                    asked_at=entry.at,
                    answer=answer.answer if answer else "",
                    text=answer.text if answer else "",
                    answered_at=answered.at if answered else None,
                )
    return tuple(gates.values())


def _happenings(entries: Sequence[Entry]) -> tuple[Happening, ...]:
    told = []
    for entry in entries:
        match entry.event:
            case Steered(task=task, what=what):
                told.append(Happening(at=entry.at, task=task, what=what))
            case AgentChosen(task=task, agent=agent, reason=reason):
                told.append(Happening(at=entry.at, task=task, what=f"{agent}: {reason}" if agent else reason))
            case LessonsTold(task=task) as lessons:
                told.append(Happening(at=entry.at, task=task, what=lessons.in_words))
            case WorkerChanged(worker=worker, what=what):
                told.append(Happening(at=entry.at, task="", what=f"worker {worker}: {what}"))
    return tuple(told)
