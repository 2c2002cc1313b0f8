"""A helper: does a part of an attempt in a conversation of its own, with a share of the time and the money."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from milepost.agents.models.as_json import digest
from milepost.agents.models.model import ToolCall, ToolResult
from milepost.agents.models.schema import problems_of
from milepost.agents.prompts import filled, quoted
from milepost.agents.tool_agent.conversation import ConversationOver, Share, ToolConversation
from milepost.agents.tool_agent.tools.specs import TASK, narration
from milepost.core.calls import Call, Reply

MAX_STEPS = 30
PART = 0.5  # of what is left when the helper begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Helpers:
    """Gives work to helpers; `usd_left` is what the attempt may still cost, None without a bound."""

    usd_left: Callable[[], float | None]
    max_steps: int = MAX_STEPS

    def hand_over(self, talk: ToolConversation, call: ToolCall) -> ToolResult:
        """Let a helper do what a call describes; its last words are the result."""
        if problem := call.problem or "; ".join(problems_of(TASK.parameters, call.arguments)):
            return _failed(talk, call, problem)
        left_s = talk.time_left_s()
        begun = talk.scene.tools.logbook.once(_beginning(call), lambda: self._begin(left_s))
        if begun.refused:
            return _failed(talk, call, f"this was not allowed: {begun.refused}")
        share = Share(timeout_s=begun.body["seconds_left"] * PART, longest_s=left_s, usd=begun.body["usd"])
        helper = ToolConversation(talk.scene, helper_prompt(call.arguments["description"]), share)
        try:
            said = helper.converse(self.max_steps)
        except ConversationOver as end:
            if end.everywhere:
                raise
            return _failed(talk, call, f"the helper has not finished ({end.status.replace('_', ' ')}): {end.said}")
        finally:
            talk.take_in(helper)
        return ToolResult(call=call.id, text=f"The helper's last words:\n{quoted(said)}")

    def _begin(self, left_s: float) -> Reply:
        """What a helper may take; recorded, because another life of the attempt has less money and less time left."""
        left = self.usd_left()
        usd = None if left is None else max(0.0, left) * PART
        return Reply(body={"text": "a helper has begun", "usd": usd, "seconds_left": left_s})


def helper_prompt(description: str) -> str:
    """All that a helper is told."""
    return filled("tool_helper", description=quoted(description), tools=filled("tool"))


def _beginning(call: ToolCall) -> Call:
    request = digest([call.name, dict(call.arguments)])
    return Call(kind="tool", name=call.name, summary=narration(call), request=request)


def _failed(talk: ToolConversation, call: ToolCall, what: str) -> ToolResult:
    talk.scene.tools.say(f"error: {what}".splitlines()[0])
    return ToolResult(call=call.id, text=f"error: {what}", failed=True)
