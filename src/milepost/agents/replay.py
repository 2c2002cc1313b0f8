"""Replay: an agent whose model's answers were written down beforehand.

A cassette is a JSON file:

    {
      "version": 1,
      "answers": {
        "<task id>": [
          [<answer>, …],      attempt 1
          [<answer>, …]       attempt 2
        ]
      }
    }

and an answer is what a model said at one step:

    {
      "text": "I write the parser first.",                     optional
      "calls": [{"name": "write_file", "arguments": {…}}],     optional; none ends the attempt as finished
      "cost_usd": 0.01,                                        optional, 0
      "input_tokens": 900, "output_tokens": 100,               optional, 0
      "seconds": 0.2                                           optional, 0: a pause before the answer, at most 5 s
    }

The calls are run, and their limits held, by the same loop that a live model uses. A recorded
attempt is played once: an attempt that was not recorded gives up and says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.agents.loop import ToolAgent
from milepost.agents.model import Answer, Conversation
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Usage
from milepost.core.errors import CassetteExhausted
from milepost.core.ports import Tools

LONGEST_PAUSE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer:
    """An answer, and how long the model took for it."""

    answer: Answer
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """Recorded answers by task; one tuple of answers for each attempt."""

    attempts: Mapping[str, tuple[tuple[RecordedAnswer, ...], ...]]

    def answers(self, task: str, attempt: int) -> tuple[RecordedAnswer, ...]:
        recorded = self.attempts.get(task, ())
        if not 1 <= attempt <= len(recorded):
            raise CassetteExhausted(
                f"the cassette holds {len(recorded)} attempts at task {task!r}, and none with number {attempt}",
                "record the attempt, or name another agent for this task",
            )
        return recorded[attempt - 1]


def load_cassette(path: Path) -> Cassette:
    """The cassette in a file; SettingInvalid says what is wrong in it, and where."""
    from milepost.agents.cassette_file import read  # pydantic takes its time to import

    return read(path)


class ReplayModel:
    """Gives the recorded answers of one attempt: to a conversation with two answers, the third."""

    name = "replay"
    price_known = True

    def __init__(
        self, cassette: Cassette, task: str, attempt: int, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._cassette = cassette
        self._task = task
        self._attempt = attempt
        self._pause = pause

    def most(self, conversation: Conversation) -> Usage:
        try:
            return self._recorded(conversation).answer.usage
        except CassetteExhausted:
            return Usage()

    def answer(self, conversation: Conversation) -> Answer:
        recorded = self._recorded(conversation)
        pause_s = min(recorded.seconds, LONGEST_PAUSE_S)
        if pause_s > 0:
            self._pause(min(pause_s, conversation.timeout_s))
        if pause_s > conversation.timeout_s:
            raise TimeoutError
        return recorded.answer

    def _recorded(self, conversation: Conversation) -> RecordedAnswer:
        answers = self._cassette.answers(self._task, self._attempt)
        if conversation.answered >= len(answers):
            raise CassetteExhausted(
                f"the cassette ends after {len(answers)} answers in attempt {self._attempt} at task {self._task!r}",
                "record an answer without calls as the last one",
            )
        return answers[conversation.answered]


class ReplayAgent:
    """Does attempts by replaying a cassette through the tool loop."""

    def __init__(self, cassette: Cassette, *, pause: Callable[[float], None] = time.sleep) -> None:
        self._cassette = cassette
        self._pause = pause

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        model = ReplayModel(self._cassette, assignment.task, assignment.attempt, pause=self._pause)
        return ToolAgent(model).act(assignment, workspace, tools)
