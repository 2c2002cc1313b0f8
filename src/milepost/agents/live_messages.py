"""Conversations and answers in the form of pydantic-ai. Imported only with a live model: the library takes its time."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Never, assert_never

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from milepost.agents.model import Answer, Conversation, Message, Prompt, Results, ToolCall, ToolResult
from milepost.core.calls import Usage

BY = "by"  # in what a model wants back: which model that is
_STRICT = ("anthropic", "bedrock")  # who take only plain names of calls, and others give others
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_-]")


def messages_of(conversation: Conversation, by: str = "") -> list[ModelMessage]:
    """The conversation as the library sends it to the model `by`; an answer without anything in it is left out.

    What another model wanted back with its words is left out, too: only that one can read it.
    """
    sent: dict[str, ToolCallPart] = {}
    for message in conversation.messages:
        if isinstance(message, Answer):
            as_given = _is_own(message, by)
            sent |= {call.id: _sent(call, by, as_given=as_given) for call in message.calls}
    messages = [_message(message, sent, by) for message in conversation.messages]
    return [message for message in messages if message.parts]


def parameters_of(conversation: Conversation) -> ModelRequestParameters:
    """The tools on offer."""
    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters))
        for tool in conversation.tools
    ]
    return ModelRequestParameters(function_tools=tools, allow_text_output=True)


def answer_in(response: ModelResponse, usage: Usage, by: str = "") -> Answer:
    """What a response of the model `by` says, and what is wrong with it if it cannot be used."""
    calls = tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart))
    text = "\n".join(part.content for part in response.parts if isinstance(part, TextPart)).strip()
    raw = {} if all(map(_is_plain, response.parts)) else {**_raw(response), BY: by}
    flaw = ""
    if response.finish_reason == "length":
        flaw = f"it was cut off after {usage.output_tokens} tokens; take smaller steps"
    elif response.finish_reason in ("content_filter", "error"):
        flaw = "the service withheld it"
    elif not text and not calls:
        flaw = "it was empty"
    return Answer(text=text, calls=calls, usage=usage, flaw=flaw, raw=raw)


def _message(message: Message, sent: dict[str, ToolCallPart], by: str) -> ModelMessage:
    match message:
        case Prompt(text=text):
            return ModelRequest(parts=[UserPromptPart(content=text)])
        case Answer(raw=raw) if _is_own(message, by):
            whole = {name: value for name, value in raw.items() if name != BY}
            return ModelMessagesTypeAdapter.validate_python([whole])[0]
        case Answer(text=text, calls=calls):
            spoken = [TextPart(content=text)] if text else []
            return ModelResponse(parts=[*spoken, *(sent[call.id] for call in calls)])
        case Results(results=results):
            return ModelRequest(parts=[_return(one, sent) for one in results])
        case _ as never:
            assert_never(never)


def _is_own(answer: Answer, by: str) -> bool:
    """Whether an answer is given back as the model gave it."""
    return bool(answer.raw) and answer.raw.get(BY, by) == by


def _sent(call: ToolCall, by: str, *, as_given: bool) -> ToolCallPart:
    """A call in a form that the model takes which is told of it, whatever model made it up."""
    name = call.name if as_given else _NOT_PLAIN.sub("_", call.name)[:64] or "unnamed"
    strict = any(word in by.partition(":")[0] for word in _STRICT)
    plain = as_given or not strict or _PLAIN.fullmatch(call.id)
    call_id = call.id if plain else f"call_{hashlib.sha256(call.id.encode()).hexdigest()[:24]}"
    return ToolCallPart(tool_name=name, args=dict(call.arguments), tool_call_id=call_id)


def _return(result: ToolResult, sent: dict[str, ToolCallPart]) -> ToolReturnPart:
    call = sent.get(result.call)
    name, call_id = (call.tool_name, call.tool_call_id) if call else ("", result.call)
    return ToolReturnPart(tool_name=name, content=result.text, tool_call_id=call_id)


def _call(part: ToolCallPart) -> ToolCall:
    arguments, problem = _arguments(part.args)
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=arguments, problem=problem)


def _arguments(given: str | dict[str, Any] | None) -> tuple[dict[str, Any], str]:
    """The arguments of a call, and why they cannot be read if they cannot."""
    try:
        read = json.loads(given, parse_constant=_no_number) if isinstance(given, str) and given.strip() else given or {}
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not valid JSON: {error}"
    return (read, "") if isinstance(read, dict) else ({}, "the arguments are not a JSON object")


def _no_number(name: str) -> Never:
    raise ValueError(f"{name} is no number")


def _raw(response: ModelResponse) -> dict[str, Any]:
    """What must be given back beside the words, such as the signature of a thought."""
    [whole] = ModelMessagesTypeAdapter.dump_python([response], mode="json", exclude_none=True)
    return {name: whole[name] for name in ("kind", "parts", "provider_name", "provider_response_id") if name in whole}


def _is_plain(part: object) -> bool:
    """Whether a part is all told by its text, or by the call it stands for."""
    return isinstance(part, TextPart | ToolCallPart) and part.id is None and part.provider_details is None
