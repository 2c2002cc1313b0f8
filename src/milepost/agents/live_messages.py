"""Conversations and answers in the form of pydantic-ai. Imported only with a live model: the library takes its time."""

from __future__ import annotations

import json
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

from milepost.agents.model import Answer, Conversation, Message, Prompt, Results, ToolCall
from milepost.core.calls import Usage


def messages_of(conversation: Conversation) -> list[ModelMessage]:
    """The conversation as the library sends it; an answer without anything in it is left out."""
    names = {
        call.id: call.name for message in conversation.messages if isinstance(message, Answer) for call in message.calls
    }
    messages = [_message(message, names) for message in conversation.messages]
    return [message for message in messages if message.parts]


def parameters_of(conversation: Conversation) -> ModelRequestParameters:
    """The tools on offer."""
    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters))
        for tool in conversation.tools
    ]
    return ModelRequestParameters(function_tools=tools, allow_text_output=True)


def answer_in(response: ModelResponse, usage: Usage) -> Answer:
    """What a response says, and what is wrong with it if it cannot be used."""
    calls = tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart))
    text = "\n".join(part.content for part in response.parts if isinstance(part, TextPart)).strip()
    raw = {} if all(map(_is_plain, response.parts)) else _raw(response)
    flaw = ""
    if response.finish_reason == "length":
        flaw = f"it was cut off after {usage.output_tokens} tokens; take smaller steps"
    elif response.finish_reason in ("content_filter", "error"):
        flaw = "the service withheld it"
    elif not text and not calls:
        flaw = "it was empty"
    return Answer(text=text, calls=calls, usage=usage, flaw=flaw, raw=raw)


def _message(message: Message, names: dict[str, str]) -> ModelMessage:
    match message:
        case Prompt(text=text):
            return ModelRequest(parts=[UserPromptPart(content=text)])
        case Answer(raw=raw) if raw:
            return ModelMessagesTypeAdapter.validate_python([raw])[0]
        case Answer(text=text, calls=calls):
            spoken = [TextPart(content=text)] if text else []
            wanted = [
                ToolCallPart(tool_name=call.name, args=dict(call.arguments), tool_call_id=call.id) for call in calls
            ]
            return ModelResponse(parts=[*spoken, *wanted])
        case Results(results=results):
            return ModelRequest(
                parts=[
                    ToolReturnPart(tool_name=names.get(one.call, ""), content=one.text, tool_call_id=one.call)
                    for one in results
                ]
            )
        case _ as never:
            assert_never(never)


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
