"""The tool loop: ask the model, run its calls, tell it the results."""

from __future__ import annotations

import time
from collections.abc import Callable

from milepost.agents.model import Answer, Conversation, Message, Model, Prompt, Results, ToolCall, ToolResult, ToolSpec
from milepost.agents.prompt import prompt_for
from milepost.agents.schema import object_of
from milepost.agents.tools import SPECS, WorkspaceTools, narration
from milepost.core.attempt import Assignment, Outcome, OutcomeStatus, Workspace
from milepost.core.errors import CassetteExhausted
from milepost.core.ports import Tools

MAX_STEPS = 100

GIVE_UP = ToolSpec(
    name="give_up",
    description="End the attempt because the task cannot be done; say why.",
    parameters=object_of({"reason": {"type": "string"}}, required=("reason",)),
)


class ToolAgent:
    """An agent that lets a model work with the tools of the workspace."""

    def __init__(
        self, model: Model, *, max_steps: int = MAX_STEPS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._max_steps = max_steps
        self._clock = clock

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        talk = _Talk(prompt_for(assignment), workspace, tools, self._clock)
        try:
            for _ in range(self._max_steps):
                answer = talk.ask(self._model)
                if not answer.calls:
                    return talk.outcome("finished", answer.text)
                talk.tell(answer, talk.run(answer.calls))
        except _Ended as end:
            return talk.outcome(end.status, end.said)
        return talk.outcome("gave_up", f"stopped after {self._max_steps} steps without an end")


class _Ended(Exception):
    """The attempt is over before the model says so."""

    def __init__(self, status: OutcomeStatus, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


class _Talk:
    """One attempt's conversation: what was said, what it cost, and how long it may go on."""

    def __init__(self, prompt: str, workspace: Workspace, tools: Tools, clock: Callable[[], float]) -> None:
        self._messages: tuple[Message, ...] = (Prompt(text=prompt),)
        self._hands = WorkspaceTools(workspace, tools.terminal, idle_timeout_s=tools.idle_timeout_s)
        self._say = tools.say
        self._clock = clock
        self._timeout_s = tools.timeout_s
        self._deadline = clock() + tools.timeout_s
        self._cost_usd = 0.0

    def ask(self, model: Model) -> Answer:
        conversation = Conversation(messages=self._messages, tools=(*SPECS, GIVE_UP), timeout_s=self._time_left_s())
        try:
            answer = model.answer(conversation)
        except TimeoutError as error:
            raise self._out_of_time() from error
        except CassetteExhausted as error:
            raise _Ended("gave_up", error.message) from error
        self._cost_usd += answer.cost_usd
        for line in answer.text.splitlines():
            self._say(line)
        return answer

    def run(self, calls: tuple[ToolCall, ...]) -> tuple[ToolResult, ...]:
        return tuple(self._run(call) for call in calls)

    def tell(self, answer: Answer, results: tuple[ToolResult, ...]) -> None:
        self._messages = (*self._messages, answer, Results(results=results))

    def outcome(self, status: OutcomeStatus, said: str) -> Outcome:
        return Outcome(status=status, said=said, cost_usd=self._cost_usd, enforced=self._hands.enforced)

    def _run(self, call: ToolCall) -> ToolResult:
        if call.name == GIVE_UP.name:
            raise _Ended("gave_up", str(call.arguments.get("reason", "")))
        timeout_s = self._time_left_s()
        self._say(narration(call))
        result = self._hands.run(call, timeout_s=timeout_s)
        if result.failed:
            self._say(result.text.splitlines()[0])
        return result

    def _time_left_s(self) -> float:
        left = self._deadline - self._clock()
        if left <= 0:
            raise self._out_of_time()
        return left

    def _out_of_time(self) -> _Ended:
        return _Ended("timed_out", f"not finished after {self._timeout_s:g} s")
