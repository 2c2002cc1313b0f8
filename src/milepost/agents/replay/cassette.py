"""A cassette: attempts that were recorded, or written down, beforehand. In a file it is JSON:

    {
      "version": 2,
      "tasks": {
        "<task id>": [
          {"agent": "tool", "answers": [<answer>, …]},     attempt 1: what a model answered, and the loop that plays it
          {"diff": "diff --git …"}                         attempt 2: what an agent without recorded answers changed
        ]
      }
    }

An answer is what a model said at one step:

    {
      "text": "I write the parser first.",                     optional
      "calls": [{"name": "write_file", "arguments": {…}}],     optional; none ends the attempt as finished
      "cost_usd": 0.01,                                        optional, 0
      "input_tokens": 900, "output_tokens": 100,               optional, 0
      "seconds": 0.2,                                          optional, 0: a pause before the answer, at most 5 s
      "flaw": "it was empty"                                   optional: why it could not be used
    }

`"agent": "code"` is the loop in which a model writes Python. An attempt may say how it ended, `"outcome": "gave_up"`
and `"said": "…"`: a diff ends so, answers do when there is none left. In version 1, `answers` stands for `tasks`, and
an attempt is only the list of its answers, for the agent `tool`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from milepost.agents.models.model import Answer
from milepost.core.attempt import OutcomeStatus
from milepost.core.calls import NOTHING, Usage
from milepost.core.errors import CassetteExhausted

Loop = Literal["tool", "code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer:
    """An answer, how long the model took for it, and which model that was, where it is known."""

    answer: Answer
    seconds: float = 0.0
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEnd:
    """How an attempt ended, in the words of its agent."""

    status: OutcomeStatus = "finished"
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTalk:
    """An attempt as the answers of its model, and the loop that played them; `end` holds when there is none left."""

    answers: tuple[RecordedAnswer, ...]
    agent: Loop = "tool"
    end: RecordedEnd | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedDiff:
    """An attempt as what it changed."""

    diff: bytes
    end: RecordedEnd = field(default_factory=RecordedEnd)
    usage: Usage = NOTHING


RecordedAttempt = RecordedTalk | RecordedDiff


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """Recorded attempts by task."""

    attempts: Mapping[str, tuple[RecordedAttempt, ...]]

    def attempt(self, task: str, number: int) -> RecordedAttempt:
        recorded = self.attempts.get(task, ())
        if not 1 <= number <= len(recorded):
            raise CassetteExhausted(
                f"the cassette holds {len(recorded)} attempts at task {task!r}, and none with number {number}",
                "record the attempt, or name another agent for this task",
            )
        return recorded[number - 1]
