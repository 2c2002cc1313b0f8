"""The events of a run as measurements for a dashboard: tasks, attempts, tokens, cost, durations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from milepost.core.events import AttemptFinished, CheckFinished, Event, ModelCalled, TaskFinished
from milepost.engine.events.otel_spans import provider_and_model


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """What is measured: its name, its unit, and whether it is added up, spread out, a state, or a sum that is known."""

    name: str
    unit: str
    kind: Literal["sum", "spread", "state", "total"]
    means: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measurement."""

    of: Instrument
    value: float
    facts: Mapping[str, str] = field(default_factory=dict)


TASKS = Instrument(name="milepost.tasks", unit="{task}", kind="sum", means="Tasks that are over, by verdict.")
ATTEMPTS = Instrument(name="milepost.attempts", unit="{attempt}", kind="sum", means="Attempts that are over.")
COST = Instrument(name="milepost.cost", unit="USD", kind="sum", means="What attempts cost, by agent.")
TASK_TIME = Instrument(name="milepost.task.duration", unit="s", kind="spread", means="Work on a task.")
ATTEMPT_TIME = Instrument(name="milepost.attempt.duration", unit="s", kind="spread", means="Work on an attempt.")
CHECK_TIME = Instrument(name="milepost.check.duration", unit="s", kind="spread", means="One check.")
TOKENS = Instrument(name="gen_ai.client.token.usage", unit="{token}", kind="spread", means="Tokens of a model call.")
CALL_TIME = Instrument(name="gen_ai.client.operation.duration", unit="s", kind="spread", means="A model call.")


class Figures:
    """Hears the events of a run, and gives what each one adds. An attempt that is told of again adds nothing."""

    def __init__(self) -> None:
        self._counted: set[tuple[str, int]] = set()

    def hear(self, event: Event) -> tuple[Figure, ...]:
        match event:
            case TaskFinished():
                facts = {"milepost.verdict": event.verdict.value if event.verdict else "waiting"}
                return _one(TASKS, facts), _seconds(TASK_TIME, event.duration_ms, facts)
            case AttemptFinished():
                if (event.task, event.attempt) in self._counted:
                    return ()
                self._counted.add((event.task, event.attempt))
                agent = event.agent.partition(":")[0]
                facts = {"milepost.verdict": event.verdict.value, "gen_ai.agent.name": agent}
                cost = Figure(of=COST, value=max(0.0, event.cost_usd), facts={"gen_ai.agent.name": agent})
                return _one(ATTEMPTS, facts), _seconds(ATTEMPT_TIME, event.duration_ms, facts), cost
            case CheckFinished():
                facts = {"milepost.check": event.name, "milepost.outcome": event.outcome}
                return (_seconds(CHECK_TIME, event.duration_ms, facts),)
            case ModelCalled():
                provider, model = provider_and_model(event.model)
                facts = {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.provider.name": provider,
                    "gen_ai.request.model": model,
                }
                tokens = {"input": event.input_tokens, "output": event.output_tokens}
                counted = (
                    Figure(of=TOKENS, value=count, facts=facts | {"gen_ai.token.type": kind})
                    for kind, count in tokens.items()
                )
                return *counted, _seconds(CALL_TIME, event.duration_ms, facts)
            case _:
                return ()


def _one(of: Instrument, facts: Mapping[str, str]) -> Figure:
    return Figure(of=of, value=1, facts=facts)


def _seconds(of: Instrument, ms: int, facts: Mapping[str, str]) -> Figure:
    return Figure(of=of, value=ms / 1000, facts=facts)
