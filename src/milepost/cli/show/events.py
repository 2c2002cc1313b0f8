"""The events of a run as a person reads them: a line each, with its place in the stream."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, assert_never

from milepost import (
    AgentSignalled,
    CheckFinished,
    Event,
    GateOpened,
    MilepostMade,
    RunFinished,
    RunStarted,
    TaskFinished,
)
from milepost.cli.format_text import clipped, clock_time, counted, duration, mark, money, safe
from milepost.events import (
    AgentChosen,
    AgentSaid,
    AttemptFinished,
    BudgetReached,
    CommandFinished,
    CommandPrinted,
    CommandStarted,
    EventsTakenBack,
    ForecastMade,
    GateAnswered,
    LessonsTold,
    MemoryWaits,
    ModelCalled,
    RunResumed,
    RunStopping,
    ServiceWaits,
    StageStarted,
    Steered,
    ToolUsed,
    WorkerChanged,
)

if TYPE_CHECKING:
    from milepost.events import Entry

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")  # colours and moves of the cursor


def event_line(entry: Entry, width: int) -> str:
    """An event's place, time, task and what it says."""
    clock = time.strftime("%H:%M:%S", time.localtime(entry.at))
    task = getattr(entry.event, "task", "")
    return clipped(f"{entry.seq:>6}  {clock}  {safe(task):<6} {_sentence(entry.event)}", width).rstrip()


def printed_lines(event: CommandPrinted, width: int) -> list[str]:
    """What a command printed, below the line of its event; those on stderr are marked."""
    marks = ("!" if place in event.errors else "|" for place in range(len(event.lines)))
    texts = (safe(_ESCAPES.sub("", line)) for line in event.lines)
    return [clipped(f"{'':>16}{mark} {text}", width) for mark, text in zip(marks, texts, strict=True)]


def _sentence(event: Event) -> str:
    match event:
        case RunStarted():
            return f"run {event.run} from {event.base[:7]}: {counted(len(event.tasks), 'task')}"
        case RunResumed():
            return f"run {event.run} continues, {event.ended} of {counted(event.tasks, 'task')} finished"
        case RunStopping():
            return f"stopping{' now' if event.at_once else ''}"
        case StageStarted():
            return f"{event.stage}, attempt {event.attempt}{f' by {event.agent}' if event.agent else ''}"
        case AgentSaid():
            return event.text if event.by_engine else f"“{event.text}”"
        case ModelCalled():
            tokens = f"{event.input_tokens} tokens in, {event.output_tokens} out"
            cost = f", {money(event.cost_usd)}" if event.cost_usd else ""
            return f"{event.model}: {tokens}, {duration(event.duration_ms)}{cost}"
        case ToolUsed():
            return f"{event.summary or event.tool}{' (failed)' if event.failed else ''}, {duration(event.duration_ms)}"
        case CommandStarted():
            return f"[{event.command}] $ {event.argv}"
        case CommandPrinted():
            return f"[{event.command}] printed {counted(len(event.lines), 'line')}"
        case CommandFinished():
            unshown = f", {counted(event.unshown, 'line')} not kept" if event.unshown else ""
            return f"[{event.command}] {event.ending}, {duration(event.duration_ms)}{unshown}"
        case EventsTakenBack():
            return f"a step was interrupted and runs again: {counted(len(event.seqs), 'event')} withdrawn"
        case CheckFinished():
            return f"check {event.name} {event.outcome}: {event.summary}"
        case AttemptFinished():
            return f"attempt {event.attempt} {event.verdict.value}: {event.reason}"
        case MilepostMade():
            return f"milepost {event.commit[:7]}"
        case GateOpened():
            return f"asks: {event.question}"
        case GateAnswered():
            return f"answered: {event.answer}{f': {event.text}' if event.text else ''}"
        case BudgetReached():
            return event.message
        case ServiceWaits():
            return f"waits for its service until {clock_time(event.until)}: {event.what}"
        case Steered():
            return event.what
        case ForecastMade():
            return f"forecast for {counted(event.tasks, 'task')}: {money(event.usd) or '$0.00'}, {event.seconds:.0f} s"
        case AgentSignalled():
            return f"{event.kind}: {event.text}"
        case AgentChosen():
            return f"{event.agent}: {event.reason}" if event.agent else event.reason
        case LessonsTold():
            return f"{event.in_words}{': ' if event.lines else ''}{' · '.join(event.lines)}"
        case MemoryWaits():
            return event.in_words
        case WorkerChanged():
            return f"worker {event.worker}: {event.what}"
        case TaskFinished():
            verdict = event.verdict.value if event.verdict else None
            return f"{mark(verdict)} {event.title}: {verdict or 'waiting'}: {event.reason}"
        case RunFinished():
            passed = sum(task.commit is not None for task in event.tasks)
            return f"run {event.run} finished: {passed} of {counted(len(event.tasks), 'task')} passed"
        case _ as never:
            assert_never(never)
