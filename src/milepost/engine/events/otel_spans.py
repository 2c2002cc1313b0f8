"""The events of a run as spans: what began when, ended when, inside of what.

A span's key is made of recorded facts alone, so each life of a run, on any machine, gives a span the same identity:
what one process began another one ends, in the same trace.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, assert_never

from milepost.core.events import (
    AgentChosen,
    AgentSaid,
    AgentSignalled,
    AttemptFinished,
    BudgetReached,
    CheckFinished,
    CommandFinished,
    CommandPrinted,
    CommandStarted,
    Event,
    EventsTakenBack,
    ForecastMade,
    GateAnswered,
    GateOpened,
    LessonsTold,
    MemoryWaits,
    MilepostMade,
    ModelCalled,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopping,
    ServiceWaits,
    StageStarted,
    Steered,
    TaskFinished,
    ToolUsed,
    WorkerChanged,
)
from milepost.core.verdict import Verdict

Fact = str | int | float | bool
RUN = "run"
MOST_NOTES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """Something that happened at one moment inside of a span."""

    at: float
    name: str
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something that took time. `parent` is the key of what it was part of, empty for the run itself."""

    key: str
    parent: str
    name: str
    began: float
    ended: float
    kind: Literal["internal", "client"] = "internal"
    facts: Mapping[str, Fact] = field(default_factory=dict)
    notes: tuple[SpanEvent, ...] = ()
    problem: str = ""


@dataclass(slots=True, kw_only=True)
class _Open:
    key: str
    parent: str
    name: str
    began: float
    facts: dict[str, Fact]
    notes: list[SpanEvent] = field(default_factory=list)

    def note(self, note: SpanEvent) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(note)

    def end(self, at: float, problem: str = "", **facts: Fact) -> Span:
        return Span(
            key=self.key,
            parent=self.parent,
            name=self.name,
            began=min(self.began, at),
            ended=at,
            facts=self.facts | {name.replace("__", "."): value for name, value in facts.items()},
            notes=tuple(self.notes),
            problem=problem,
        )


def trace_number(seed: str) -> int:
    """The identity of a run's trace: 128 bits, never 0."""
    return int.from_bytes(_digest(seed)[:16], "big") or 1


def span_number(seed: str, key: str) -> int:
    """The identity of a span in the trace of a run: 64 bits, never 0."""
    return int.from_bytes(_digest(f"{seed}\0{key}")[:8], "big") or 1


class Spans:
    """Hears the events of a run in order, and gives the spans that each one ends.

    An end whose beginning was not heard, because another machine told it, is given the duration that it states.
    """

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._stages: dict[str, tuple[str, str]] = {}  # the stage that a task is at: its name and its key
        self._ended: Counter[str] = Counter()  # how often a stage or check of a name has ended

    def hear(self, event: Event, at: float) -> tuple[Span, ...]:
        match event:
            case RunStarted():
                facts: dict[str, Fact] = {
                    "milepost.branch": event.branch,
                    "milepost.base": event.base,
                    "milepost.trust": event.trust,
                    "milepost.parallel": event.parallel,
                }
                self._open[RUN] = _Open(key=RUN, parent="", name="run", began=at, facts=facts)
                return ()
            case StageStarted():
                return self._begin_stage(event, at)
            case ModelCalled():
                return (self._model_call(event, at),)
            case ToolUsed():
                return (self._tool_use(event, at),)
            case CheckFinished():
                return (self._check(event, at),)
            case AttemptFinished():
                return self._end_attempt(event, at)
            case TaskFinished():
                return self._end_task(event, at)
            case RunFinished():
                return self._end_run(event, at)
            case MilepostMade() | GateOpened() | GateAnswered() | BudgetReached() | Steered() | WorkerChanged():
                self._note(event, at)
                return ()
            case RunResumed() | RunStopping() | ForecastMade() | AgentChosen() | AgentSignalled() | ServiceWaits():
                self._note(event, at)
                return ()
            case CommandStarted() | CommandFinished() | EventsTakenBack():
                return ()
            case AgentSaid() | CommandPrinted() | LessonsTold() | MemoryWaits():
                return ()  # what is said may hold anything: it stays on the machine
            case _ as never:
                assert_never(never)

    def _begin_stage(self, event: StageStarted, at: float) -> tuple[Span, ...]:
        task, attempt = _task(event.task), _attempt(event.task, event.attempt)
        if task not in self._open:
            facts: dict[str, Fact] = {"milepost.task": event.task, "milepost.title": event.title}
            self._open[task] = _Open(key=task, parent=RUN, name="task", began=at, facts=facts)
        if event.stage == "act" and attempt not in self._open:
            facts = {"milepost.task": event.task, "milepost.attempt": event.attempt}
            self._open[attempt] = _Open(key=attempt, parent=task, name="attempt", began=at, facts=facts)
        key = self._key(f"{attempt}/{event.stage}")
        ended = self._end_stage(event.task, at, but=key)
        facts = {"milepost.task": event.task, "milepost.attempt": event.attempt, "milepost.stage": event.stage}
        name: str = event.stage
        if event.stage == "act":
            name = f"invoke_agent {_short(event.agent)}".rstrip()
            facts |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": _short(event.agent)}
        parent = attempt if attempt in self._open else task
        self._open[key] = _Open(key=key, parent=parent, name=name, began=at, facts=facts)
        self._stages[event.task] = (f"{attempt}/{event.stage}", key)
        return ended

    def _end_stage(self, task: str, at: float, but: str = "") -> tuple[Span, ...]:
        """End the stage that a task is at; one that begins again after a crash never ended."""
        name, key = self._stages.pop(task, ("", ""))
        stage = self._open.pop(key, None)
        if stage is None or key == but:
            return ()
        self._ended[name] += 1
        return (stage.end(at),)

    def _model_call(self, event: ModelCalled, at: float) -> Span:
        provider, model = provider_and_model(event.model)
        facts: dict[str, Fact] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "gen_ai.usage.input_tokens": event.input_tokens,
            "gen_ai.usage.output_tokens": event.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": event.cached_tokens,
            "milepost.cost_usd": event.cost_usd,
        }
        return self._call(event, at, f"chat {model}", facts, kind="client")

    def _tool_use(self, event: ToolUsed, at: float) -> Span:
        facts: dict[str, Fact] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.tool,
            "gen_ai.tool.type": "function",
            "milepost.summary": event.summary,
        }
        return self._call(event, at, f"execute_tool {event.tool}", facts, problem="failed" if event.failed else "")

    def _call(
        self,
        event: ModelCalled | ToolUsed,
        at: float,
        name: str,
        facts: dict[str, Fact],
        kind: Literal["internal", "client"] = "internal",
        problem: str = "",
    ) -> Span:
        attempt = _attempt(event.task, event.attempt)
        return Span(
            key=f"{attempt}/call/{event.number}",
            parent=f"{attempt}/act",
            name=name,
            began=at - event.duration_ms / 1000,
            ended=at,
            kind=kind,
            facts=facts | {"milepost.task": event.task, "milepost.attempt": event.attempt},
            problem=problem,
        )

    def _check(self, event: CheckFinished, at: float) -> Span:
        attempt = _attempt(event.task, event.attempt)
        _, stage = self._stages.get(event.task, ("", f"{attempt}/verify"))
        began = at - event.duration_ms / 1000
        facts: dict[str, Fact] = {"milepost.task": event.task, "milepost.check": event.name}
        name = f"{stage}/{event.name}"
        key = self._key(name)
        self._ended[name] += 1
        return Span(
            key=key,
            parent=stage,
            name=f"check {event.name}",
            began=began,
            ended=at,
            facts=facts | {"milepost.outcome": event.outcome},
            problem=event.summary if event.outcome == "failed" else "",
        )

    def _end_attempt(self, event: AttemptFinished, at: float) -> tuple[Span, ...]:
        stages = self._end_stage(event.task, at)
        key = _attempt(event.task, event.attempt)
        open_ = self._open.pop(key, None)
        if open_ is None:
            return stages  # its evidence was corrected after it ended: that is no second attempt
        problem = event.reason if event.verdict is Verdict.FAILED else ""
        ended = open_.end(
            at,
            problem,
            gen_ai__agent__name=_short(event.agent),
            milepost__verdict=event.verdict.value,
            milepost__commit=event.commit,
            milepost__cost_usd=event.cost_usd,
        )
        return (*stages, ended)

    def _end_task(self, event: TaskFinished, at: float) -> tuple[Span, ...]:
        stages = self._end_stage(event.task, at)
        key = _task(event.task)
        started = at - event.duration_ms / 1000
        unheard = _Open(key=key, parent=RUN, name="task", began=started, facts={"milepost.task": event.task})
        ended = self._open.pop(key, unheard).end(
            at,
            event.reason if event.verdict is Verdict.FAILED else "",
            milepost__title=event.title,
            milepost__verdict=event.verdict.value if event.verdict else "waiting",
            milepost__attempts=event.attempts,
            milepost__commit=event.commit or "",
            milepost__cost_usd=event.cost_usd,
        )
        return (*stages, ended)

    def _end_run(self, event: RunFinished, at: float) -> tuple[Span, ...]:
        unheard = _Open(key=RUN, parent="", name="run", began=at - event.duration_ms / 1000, facts={})
        rest = tuple(self._open.pop(key).end(at) for key in [*self._open] if key != RUN)
        passed = sum(task.verdict is Verdict.PASSED for task in event.tasks)
        ended = self._open.pop(RUN, unheard).end(
            at,
            milepost__run=event.run,
            milepost__tasks=len(event.tasks),
            milepost__passed=passed,
            milepost__head=event.head,
            milepost__cost_usd=event.cost_usd,
        )
        return (*rest, ended)

    def _key(self, name: str) -> str:
        """The key of what begins under a name: another one once that has ended, as work may be proven again."""
        times = self._ended[name]
        return f"{name}#{times + 1}" if times else name

    def _note(self, event: Event, at: float) -> None:
        """Note an event on the task that it is about, or on the run."""
        task = getattr(event, "task", "")
        inside = self._open.get(_task(task)) or self._open.get(RUN)
        words = ("task", "gate", "kind", "answer", "scope", "message", "what", "worker", "commit")
        facts: dict[str, Fact] = {
            f"milepost.{word}": str(getattr(event, word)) for word in words if getattr(event, word, "")
        }
        if inside is not None:
            inside.note(SpanEvent(at=at, name=event.event, facts=facts))


def provider_and_model(name: str) -> tuple[str, str]:
    """`openai:gpt-5` as its two halves."""
    provider, colon, model = name.partition(":")
    return (provider, model) if colon else ("unknown", name)


def _task(task: str) -> str:
    return f"task/{task}"


def _attempt(task: str, number: int) -> str:
    return f"task/{task}/{number}"


def _short(agent: str) -> str:
    """The kind of an agent: what follows may be a command line."""
    return agent.partition(":")[0]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).digest()
