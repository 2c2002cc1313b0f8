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
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from milepost.agents.models.faults import Fault
from milepost.agents.models.model import Answer, Conversation, Message, Prompt, Results, ToolCall, ToolResult
from milepost.agents.models.providers import short
from milepost.core.calls import Usage

BY = "by"  # in what a model wants back: which model that is
DEEPEST = 100  # of arguments: libraries cannot send what is nested much deeper
_STRICT = ("anthropic", "bedrock")  # who take only plain names of calls, and others give others
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_-]")
_TOO_DEEP = f"the arguments are nested deeper than {DEEPEST} levels"
_Sent = tuple[str, ToolCallPart]  # a call of an answer, under the name that the answer gave it


def messages_of(conversation: Conversation, by: str = "") -> list[ModelMessage]:
    """The conversation as the library sends it to the model `by`; an answer without anything in it is left out.

    What another model wanted back with its words is left out, too: only that one can read it.
    """
    messages: list[ModelMessage] = []
    sent: list[_Sent] = []
    for message in conversation.messages:
        if isinstance(message, Answer):  # some models name the calls of every answer alike
            as_given = _is_own(message, by)
            sent = [(call.id, _sent(call, by, as_given=as_given)) for call in message.calls]
        messages.append(_message(message, sent, by))
    return [message for message in messages if message.parts]


def sendable_messages(conversation: Conversation, by: str) -> list[ModelMessage]:
    """The conversation as `messages_of` has it; raises a Fault where no library could send it, before one is asked."""
    try:
        messages = messages_of(conversation, by)
        ModelMessagesTypeAdapter.dump_json(messages)
    except (ValueError, RecursionError) as error:
        raise Fault("rejected", f"the conversation cannot be sent: {short(error)}") from error
    return messages


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
    text = sound("\n".join(part.content for part in response.parts if isinstance(part, TextPart)).strip())
    too_deep = any(call.problem == _TOO_DEEP for call in calls)  # nobody could give such an answer back
    raw = {} if too_deep or all(map(_is_plain, response.parts)) else {**_raw(response), BY: by}
    flaw = ""
    if response.finish_reason == "length":
        flaw = f"it was cut off after {usage.output_tokens} tokens; take smaller steps"
    elif response.finish_reason in ("content_filter", "error"):
        flaw = "the service withheld it"
    elif not text and not calls:
        flaw = "it was empty"
    return Answer(text=text, calls=calls, usage=usage, flaw=flaw, raw=raw)


def said_in(response: ModelResponse) -> str:
    """All that a model wrote in a response, whatever it was for."""
    return "\n".join(_written(part) for part in response.parts)


def sound(text: str) -> str:
    """The text with each half of a character, which no UTF-8 has, spelled out; halves that belong together are one."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return joined.encode("utf-8", "backslashreplace").decode()


def _written(part: ModelResponsePart) -> str:
    match part:
        case TextPart(content=text) | ThinkingPart(content=text):
            return text
        case ToolCallPart(tool_name=name, args=args):
            return f"{name} {args if isinstance(args, str) else json.dumps(args or {}, ensure_ascii=False)}"
        case _:
            return ""


def _message(message: Message, sent: list[_Sent], by: str) -> ModelMessage:
    match message:
        case Prompt(text=text):
            return ModelRequest(parts=[UserPromptPart(content=sound(text))])
        case Answer(raw=raw) if _is_own(message, by):
            whole = {name: value for name, value in raw.items() if name != BY}
            return ModelMessagesTypeAdapter.validate_python([whole])[0]
        case Answer(text=text):
            spoken = [TextPart(content=sound(text))] if text else []
            return ModelResponse(parts=[*spoken, *(call for _, call in sent)])
        case Results(results=results):
            left = list(sent)
            return ModelRequest(parts=[_return(one, left) for one in results])
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
    return ToolCallPart(tool_name=name, args=_sound(dict(call.arguments)), tool_call_id=call_id)


def _return(result: ToolResult, left: list[_Sent]) -> ToolReturnPart:
    """A result, as that of the first call of its name which has none yet; that one is taken out of `left`."""
    place = next((place for place, (name, _) in enumerate(left) if name == result.call), None)
    call = None if place is None else left.pop(place)[1]
    name, call_id = (call.tool_name, call.tool_call_id) if call else ("", result.call)
    return ToolReturnPart(tool_name=name, content=sound(result.text), tool_call_id=call_id)


def _call(part: ToolCallPart) -> ToolCall:
    arguments, problem = _arguments(part.args)
    return ToolCall(id=sound(part.tool_call_id), name=sound(part.tool_name), arguments=arguments, problem=problem)


def _arguments(given: str | dict[str, Any] | None) -> tuple[dict[str, Any], str]:
    """The arguments of a call in a form that can be kept and sent, and why they cannot be used if they cannot."""
    try:
        read = json.loads(given, parse_constant=_no_number) if isinstance(given, str) and given.strip() else given or {}
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not valid JSON: {error}"
    if not isinstance(read, dict):
        return {}, "the arguments are not a JSON object"
    try:
        kept = _sound(read)
    except RecursionError:
        return {}, _TOO_DEEP
    return kept, "" if kept == read else "the arguments have half a character in them, a surrogate without its other"


def _sound(value: Any, left: int = DEEPEST) -> Any:
    """Plain JSON values with every text in them sound; RecursionError when they are nested too deep."""
    if left < 0:
        raise RecursionError
    match value:
        case str():
            return sound(value)
        case dict():
            return {sound(name): _sound(one, left - 1) for name, one in value.items()}
        case list():
            return [_sound(one, left - 1) for one in value]
        case _:
            return value


def _no_number(name: str) -> Never:
    raise ValueError(f"{name} is no number")


def _raw(response: ModelResponse) -> dict[str, Any]:
    """What must be given back beside the words, such as the signature of a thought."""
    [whole] = ModelMessagesTypeAdapter.dump_python([response], mode="json", exclude_none=True)
    kept = ("kind", "parts", "provider_name", "provider_response_id")
    return {name: _sound(whole[name], 2 * DEEPEST) for name in kept if name in whole}


def _is_plain(part: object) -> bool:
    """Whether a part is all told by its text, or by the call it stands for."""
    return isinstance(part, TextPart | ToolCallPart) and part.id is None and part.provider_details is None
