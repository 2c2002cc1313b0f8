"""Answers and results as plain JSON, as a logbook keeps them, and what tells one question from another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, assert_never

from milepost.agents.models.model import Answer, Conversation, Message, Prompt, Results, ToolCall, ToolResult
from milepost.core.calls import Usage

Plain = dict[str, Any]


def plain_answer(answer: Answer) -> Plain:
    """An answer without what it took, which is recorded beside it."""
    return {
        "text": answer.text,
        "calls": [
            {"id": call.id, "name": call.name, "arguments": dict(call.arguments), "problem": call.problem}
            for call in answer.calls
        ],
        "flaw": answer.flaw,
        "raw": dict(answer.raw),
    }


def answer_of(body: Mapping[str, Any], usage: Usage) -> Answer:
    """The answer that was recorded."""
    calls = tuple(ToolCall(**call) for call in body["calls"])
    return Answer(text=body["text"], calls=calls, usage=usage, flaw=body["flaw"], raw=body["raw"])


def plain_result(result: ToolResult) -> Plain:
    """A result without whose it is, which the conversation tells."""
    enforced = None if result.enforced is None else list(result.enforced)
    return {"text": result.text, "failed": result.failed, "enforced": enforced}


def result_of(body: Mapping[str, Any], call: str) -> ToolResult:
    """The result of a call that was recorded."""
    enforced = None if body["enforced"] is None else tuple(body["enforced"])
    return ToolResult(call=call, text=body["text"], failed=body["failed"], enforced=enforced)


def digest_of(conversation: Conversation) -> str:
    """A hash of all that a model is told; the same for the same question, in every process."""
    return digest(_told(conversation))


def digest(value: object) -> str:
    """A hash of plain JSON values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def size_of(conversation: Conversation) -> int:
    """How many bytes a model is told, in UTF-8."""
    return len(json.dumps(_told(conversation), ensure_ascii=False).encode("utf-8", "backslashreplace"))


def _told(conversation: Conversation) -> object:
    tools = [[tool.name, tool.description, tool.parameters] for tool in conversation.tools]
    return [[_said(message) for message in conversation.messages], tools]


def _said(message: Message) -> object:
    match message:
        case Prompt(text=text):
            return text
        case Answer():
            return plain_answer(message)
        case Results(results=results):
            return [[result.call, result.text, result.failed] for result in results]
        case _ as never:
            assert_never(never)
