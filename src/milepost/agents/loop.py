"""The tool loop: ask the model, run its calls, tell it the results.

Every question and every use of a tool goes through the attempt's logbook. After a crash the loop is gone through again
from the start: what was answered before comes from there, and only what is missing is asked for. So nothing here may
depend on anything but the assignment and what the logbook gives; the time that is used up is what the calls took.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote

from milepost.agents.asking import PATIENCE_S, Asker
from milepost.agents.faults import Fault, limit_in_words
from milepost.agents.model import Answer, Conversation, Message, Model, Prompt, Results, ToolCall, ToolResult, ToolSpec
from milepost.agents.prompt import prompt_for
from milepost.agents.recorded import answer_of, digest, digest_of, plain_result, result_of
from milepost.agents.schema import object_of
from milepost.agents.tools import CHANGING, SPECS, WorkspaceTools, argv_of, narration
from milepost.core.attempt import Assignment, Outcome, OutcomeStatus, Workspace
from milepost.core.calls import Call, Reply, Usage
from milepost.core.commands import enforced_by_all
from milepost.core.errors import CassetteExhausted
from milepost.core.ports import Stops, Tools

MAX_STEPS = 100
LONGEST_NAME = 100

GIVE_UP = ToolSpec(
    name="give_up",
    description="End the attempt because the task cannot be done; say why.",
    parameters=object_of({"reason": {"type": "string"}}, required=("reason",)),
)

_REMINDER = (
    "Your last answer could not be used: {flaw}. Go on with the task: call a tool, or say in words that it is done."
)
_NOT_RUN = "error: not run, because the answer could not be used: {flaw}"


class ToolAgent:
    """An agent that lets a model work with the tools of the workspace.

    A server that does not answer is asked again for `patience_s`.
    """

    def __init__(
        self,
        model: Model,
        *,
        max_steps: int = MAX_STEPS,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
        stops: Stops | None = None,
    ) -> None:
        self._model = model
        self._max_steps = max_steps
        self._patience_s = patience_s
        self._clock = clock
        self._stops = stops

    @property
    def price_known(self) -> bool:
        """Whether a bound in money can hold for this agent."""
        return self._model.price_known

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        stops = self._stops or tools.stops
        asker = Asker(self._model, patience_s=self._patience_s, clock=self._clock, stops=stops, say=tools.say)
        talk = _Talk(assignment, workspace, tools, asker)
        if not self.price_known:
            tools.say(f"the price of {self._model.name} is not known: its answers are counted as $0")
        try:
            for _ in range(self._max_steps):
                answer = talk.ask()
                if answer.flaw:
                    talk.remind(answer)
                elif answer.calls:
                    talk.tell(answer, talk.run(answer.calls))
                else:
                    return talk.outcome("finished", answer.text)
        except _Ended as end:
            return talk.outcome(end.status, end.said)
        return talk.outcome("gave_up", f"stopped after {self._max_steps} steps without an end")


class _Ended(Exception):
    """The attempt is over before the model says so."""

    def __init__(self, status: OutcomeStatus, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


def _ended_by(fault: Fault) -> _Ended:
    return _Ended("gave_up", fault.what) if fault.kind == "rejected" else _Ended("limited", limit_in_words(fault))


class _Talk:
    """One attempt's conversation: what was said, what it cost, and how long it may go on."""

    def __init__(self, assignment: Assignment, workspace: Workspace, tools: Tools, asker: Asker) -> None:
        self._messages: tuple[Message, ...] = (Prompt(text=prompt_for(assignment)),)
        self._place = f"{assignment.run}/{assignment.task}/{assignment.attempt}"
        self._hands = WorkspaceTools(
            workspace, tools.terminal, idle_timeout_s=tools.idle_timeout_s, seconds_for=tools.seconds_for
        )
        self._asker = asker
        self._say = tools.say
        self._redact = tools.redact
        self._logbook = tools.logbook
        self._timeout_s = tools.timeout_s
        self._used_s = 0.0
        self._usage = Usage()
        self._enforced: list[tuple[str, ...]] = []
        self._reminded = False

    def ask(self) -> Answer:
        conversation = self._conversation()
        try:
            reply = self._logbook.once(self._asker.call(conversation), lambda: self._asker.ask(conversation))
        except TimeoutError as error:
            raise self._out_of_time() from error
        except CassetteExhausted as error:
            raise _Ended("gave_up", error.message) from error
        except Fault as fault:
            raise _ended_by(fault) from fault
        if reply.refused:
            raise _Ended("gave_up", f"the model was not asked: {reply.refused}")
        self._used_s += reply.body["seconds"]
        self._usage += reply.usage
        answer = answer_of(reply.body, reply.usage)
        for line in answer.text.splitlines():
            self._say(line)
        return answer

    def run(self, calls: tuple[ToolCall, ...]) -> tuple[ToolResult, ...]:
        return tuple(self._run(call) for call in calls)

    def tell(self, answer: Answer, results: tuple[ToolResult, ...]) -> None:
        self._messages = (*self._messages, answer, Results(results=results))
        self._reminded = False

    def remind(self, answer: Answer) -> None:
        """Tell the model that its answer is of no use; the second time in a row ends the attempt."""
        self._say(f"the model's answer cannot be used: {answer.flaw}")
        if self._reminded:
            raise _Ended("gave_up", f"two answers in a row could not be used: {answer.flaw}")
        not_run = tuple(
            ToolResult(call=call.id, text=_NOT_RUN.format(flaw=answer.flaw), failed=True) for call in answer.calls
        )
        results = (Results(results=not_run),) if not_run else ()
        self._messages = (*self._messages, answer, *results, Prompt(text=_REMINDER.format(flaw=answer.flaw)))
        self._reminded = True

    def outcome(self, status: OutcomeStatus, said: str) -> Outcome:
        enforced = enforced_by_all(self._enforced)
        return Outcome(status=status, said=said, usage=self._usage, enforced=enforced)

    def _run(self, call: ToolCall) -> ToolResult:
        if call.name == GIVE_UP.name:
            raise _Ended("gave_up", str(call.arguments.get("reason", "")))
        timeout_s = self._time_left_s()
        self._say(narration(call))
        reply = self._logbook.once(recorded_call(call), lambda: self._use(call, timeout_s))
        if reply.refused:
            result = ToolResult(call=call.id, text=f"error: this was not allowed: {reply.refused}", failed=True)
        else:
            self._used_s += reply.body["seconds"]
            result = result_of(reply.body, call.id)
        if result.enforced is not None:
            self._enforced.append(result.enforced)
        if result.failed:
            self._say(result.text.splitlines()[0])
        return result

    def _use(self, call: ToolCall, timeout_s: float) -> Reply:
        started = self._asker.clock()
        result = self._hands.run(call, timeout_s=timeout_s)
        result = replace(result, text=self._redact(result.text))
        seconds = self._asker.clock() - started
        return Reply(body={**plain_result(result), "seconds": seconds}, failed=result.failed)

    def _conversation(self) -> Conversation:
        tools = (*SPECS, GIVE_UP)
        asked = Conversation(messages=self._messages, tools=tools, timeout_s=self._time_left_s())
        # The digest keeps a service from giving the answer to another question, whoever uses the key again.
        return replace(asked, key=f"{quote(self._place)}/{asked.answered + 1}-{digest_of(asked)[:16]}")

    def _time_left_s(self) -> float:
        left = self._timeout_s - self._used_s
        if left <= 0:
            raise self._out_of_time()
        return left

    def _out_of_time(self) -> _Ended:
        return _Ended("timed_out", f"not finished after {self._timeout_s:g} s")


def recorded_call(call: ToolCall) -> Call:
    """A use of a tool, as the logbook knows it."""
    name = call.name[:LONGEST_NAME].encode("utf-8", "backslashreplace").decode()
    return Call(
        kind="tool",
        name=name,
        summary=narration(call),
        request=digest([call.name, dict(call.arguments), call.problem]),
        changes=call.name in CHANGING,
        argv=argv_of(call),
    )
