"""One conversation of a tool agent: what was said, what it took, and how long it may go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from urllib.parse import quote

from milepost.agents.models.as_json import answer_of, digest, digest_of, plain_result, result_of, size_of
from milepost.agents.models.ask import Asker
from milepost.agents.models.faults import Fault, limit_in_words
from milepost.agents.models.model import Answer, Conversation, Message, Prompt, Results, ToolCall, ToolResult, ToolSpec
from milepost.agents.models.prices import most_input_tokens
from milepost.agents.models.window import pruned
from milepost.agents.prompts import filled
from milepost.agents.tool_agent.mcp.servers import Servers
from milepost.agents.tool_agent.tools.calls import ToolCalls, Use
from milepost.agents.tool_agent.tools.long_results import LongResults
from milepost.agents.tool_agent.tools.specs import CHANGING, GIVE_UP, TASK, argv_of, narration
from milepost.core.attempt import OutcomeStatus, Workspace
from milepost.core.calls import Call, Reply, Usage
from milepost.core.errors import CassetteExhausted
from milepost.core.ports import Tools

LONGEST_NAME = 100

_NOT_RUN = "error: not run, because the answer could not be used: {flaw}"


class ConversationOver(Exception):
    """A conversation is over before the model says so; `everywhere`: no other one of the attempt can go on, either."""

    def __init__(self, status: OutcomeStatus, said: str, *, everywhere: bool = False) -> None:
        super().__init__(said)
        self.status = status
        self.said = said
        self.everywhere = everywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What all conversations of one attempt share: also `max_answers`, which they have together.

    Without `window_tokens`, all that was said is told every time.
    """

    place: str
    workspace: Workspace
    tools: Tools
    asker: Asker
    results: LongResults
    servers: Servers
    window_tokens: int | None
    questions: Iterator[int]
    max_answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a conversation may take; without `usd`, only the attempt's own wall bounds its cost.

    An answer that is waited for may take it beyond `timeout_s`, up to `longest_s`: when time runs out in the middle of
    it nothing is recorded, and after a crash the same has to come of the same. When `longest_s` is over, so is the
    attempt.
    """

    timeout_s: float
    longest_s: float
    usd: float | None = None


HandOver = Callable[["ToolConversation", ToolCall], ToolResult]


class ToolConversation:
    """A conversation; `hand_over` lets a helper do a part of its work, which helpers themselves cannot."""

    def __init__(self, scene: Scene, prompt: str, share: Share, *, hand_over: HandOver | None = None) -> None:
        tools = scene.tools
        self.scene = scene
        self._share = share
        self._hand_over = hand_over
        self._messages: tuple[Message, ...] = (Prompt(text=prompt),)
        self._hands = ToolCalls(
            scene.workspace,
            tools.terminal,
            scene.results,
            idle_timeout_s=tools.idle_timeout_s,
            seconds_for=tools.seconds_for,
        )
        self.used_s = 0.0
        self.usage = Usage()
        self.enforced: list[tuple[str, ...]] = []
        self._reminded = False

    def converse(self, max_steps: int | None = None) -> str:
        """Ask the model, run its calls, tell it the results; its last words when it has nothing left to do."""
        for _ in count() if max_steps is None else range(max_steps):
            answer = self._ask()
            if answer.flaw:
                self._remind(answer)
            elif answer.calls:
                self._tell(answer, tuple(self._run(call) for call in answer.calls))
            else:
                return answer.text
        raise ConversationOver("gave_up", _endless(max_steps))

    def time_left_s(self) -> float:
        left = self._share.timeout_s - self.used_s
        if left <= 0:
            raise ConversationOver("timed_out", _late(self._share.timeout_s))
        if self.used_s >= self._share.longest_s:
            raise ConversationOver("timed_out", _late(self.scene.tools.timeout_s), everywhere=True)
        return min(left, self._share.longest_s - self.used_s)

    def take_in(self, helper: ToolConversation) -> None:
        """Count what a helper took as taken here."""
        self.used_s += helper.used_s
        self.usage += helper.usage
        self.enforced += helper.enforced

    def _ask(self) -> Answer:
        conversation = self._conversation()
        self._require_money(conversation)
        try:
            reply = self.scene.asker.reply(conversation)
        except TimeoutError as error:
            raise ConversationOver("timed_out", _late(self.scene.tools.timeout_s), everywhere=True) from error
        except CassetteExhausted as error:
            raise ConversationOver("gave_up", error.message, everywhere=True) from error
        except Fault as fault:
            raise _ended_by(fault) from fault
        if reply.refused:
            raise ConversationOver("gave_up", f"the model was not asked: {reply.refused}", everywhere=True)
        self.used_s += reply.body["seconds"]
        self.usage += reply.usage
        answer = answer_of(reply.body, reply.usage)
        self.scene.asker.tell(answer)
        return answer

    def _tell(self, answer: Answer, results: tuple[ToolResult, ...]) -> None:
        self._messages = (*self._messages, answer, Results(results=results))
        self._reminded = False

    def _remind(self, answer: Answer) -> None:
        """Tell the model that its answer is of no use; the second time in a row ends the conversation."""
        self.scene.tools.say(f"the model's answer cannot be used: {answer.flaw}")
        if self._reminded:
            raise ConversationOver("gave_up", f"two answers in a row could not be used: {answer.flaw}")
        not_run = tuple(
            ToolResult(call=call.id, text=_NOT_RUN.format(flaw=answer.flaw), failed=True) for call in answer.calls
        )
        results = (Results(results=not_run),) if not_run else ()
        reminder = Prompt(text=filled("tool_reminder", flaw=answer.flaw))
        self._messages = (*self._messages, answer, *results, reminder)
        self._reminded = True

    def _run(self, call: ToolCall) -> ToolResult:
        """What came of one call. They are run one after the other: their order is that of the logbook."""
        if call.name == GIVE_UP.name:
            raise ConversationOver("gave_up", str(call.arguments.get("reason", "")))
        timeout_s, name = self.time_left_s(), self.scene.results.new_name()
        self.scene.tools.say(narration(call))
        if call.name == TASK.name and self._hand_over is not None:
            return self._hand_over(self, call)
        reply = self.scene.tools.logbook.once(recorded_call(call), lambda: self._use(call, name, timeout_s))
        return self._noted(call, reply)

    def _noted(self, call: ToolCall, reply: Reply) -> ToolResult:
        """What a reply says, taken note of: only what the logbook gives may change what follows."""
        if reply.refused:
            result = ToolResult(call=call.id, text=f"error: this was not allowed: {reply.refused}", failed=True)
        else:
            self.used_s += reply.body["seconds"]
            result = result_of(reply.body, call.id)
        self._hands.learn(call, failed=result.failed, seen=reply.body.get("seen", {}))
        if result.enforced is not None:
            self.enforced.append(result.enforced)
        if result.failed:
            self.scene.tools.say(result.text.splitlines()[0])
        elif call.name == "write_todos":
            for line in self._hands.todos:
                self.scene.tools.say(line)
        return result

    def _use(self, call: ToolCall, name: str, timeout_s: float) -> Reply:
        scene = self.scene
        scene.tools.stops.check()
        started = scene.asker.clock()
        use = self._used(call, timeout_s)
        text = scene.results.told(name, scene.tools.redact(use.text))
        body = plain_result(replace(use, text=text).result(call.id))
        seconds = scene.asker.clock() - started
        return Reply(body={**body, "seconds": seconds, "seen": dict(use.seen)}, failed=use.failed)

    def _used(self, call: ToolCall, timeout_s: float) -> Use:
        if call.name in {spec.name for spec in self._hands.specs}:
            return self._hands.use(call, timeout_s=timeout_s)
        if call.name in {spec.name for spec in self.scene.servers.specs}:
            return self.scene.servers.use(call, timeout_s=timeout_s)
        known = ", ".join(spec.name for spec in self._specs())
        return Use(text=f"error: there is no tool {call.name!r:.100}; there are {known}", failed=True)

    def _specs(self) -> tuple[ToolSpec, ...]:
        helped = (TASK,) if self._hand_over is not None else ()
        return (*self._hands.specs, *helped, *self.scene.servers.specs, GIVE_UP)

    def _conversation(self) -> Conversation:
        self.time_left_s()
        specs, timeout_s = self._specs(), self._share.longest_s - self.used_s
        messages = self._messages
        if self.scene.window_tokens is not None:
            messages = pruned(messages, room=self.scene.window_tokens, size=lambda said: _tokens(said, specs))
        asked = Conversation(messages=messages, tools=specs, timeout_s=timeout_s)
        # The digest keeps a service from giving the answer to another question, whoever uses the key again.
        number = self._next_number()
        return replace(asked, key=f"{quote(self.scene.place)}/{number}-{digest_of(asked)[:16]}")

    def _next_number(self) -> int:
        number, most = next(self.scene.questions), self.scene.max_answers
        if number > most:
            raise ConversationOver("gave_up", _endless(most), everywhere=True)
        return number

    def _require_money(self, conversation: Conversation) -> None:
        """End a conversation whose next answer could cost more than is left of its share."""
        usd = self._share.usd
        if usd is not None and self.usage.cost_usd + self.scene.asker.call(conversation).most.cost_usd > usd:
            raise ConversationOver("spent", f"not finished with the ${usd:.4f} it had")


def recorded_call(call: ToolCall) -> Call:
    """A use of a tool, as the logbook knows it."""
    name = call.name[:LONGEST_NAME].encode("utf-8", "backslashreplace").decode()
    return Call(
        kind="tool",
        name=name,
        summary=narration(call),
        request=digest([call.name, dict(call.arguments), call.problem]),
        changes=call.name in CHANGING or Servers.owns(call.name),
        argv=argv_of(call),
    )


def questions() -> Iterator[int]:
    """The numbers of an attempt's questions."""
    return count(1)


def _endless(steps: int | None) -> str:
    return f"stopped after {steps} steps without an end"


def _late(seconds: float) -> str:
    return f"not finished after {seconds:g} s"


def _ended_by(fault: Fault) -> ConversationOver:
    if fault.kind == "rejected":
        return ConversationOver("gave_up", fault.what, everywhere=True)
    return ConversationOver("limited", limit_in_words(fault), everywhere=True)


def _tokens(messages: tuple[Message, ...], specs: tuple[ToolSpec, ...]) -> int:
    return most_input_tokens(size_of(Conversation(messages=messages, tools=specs, timeout_s=0)))
