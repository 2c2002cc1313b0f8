"""OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fakes.wires.wire import Asked, Plain, Said, Turn, event, pieces, text_of

_FINISH = {"stop": "stop", "calls": "tool_calls", "length": "length"}


class Chat:
    name = "chat"

    def read(self, path: str, body: Plain) -> Asked:
        messages = body.get("messages", [])
        tools = {
            tool["function"]["name"]: tool["function"].get("parameters") or {}
            for tool in body.get("tools") or ()
            if tool.get("type") == "function"
        }
        return Asked(
            model=body.get("model", ""),
            streaming=bool(body.get("stream")),
            system="\n".join(text_of(one.get("content")) for one in messages if one["role"] in ("system", "developer")),
            turns=tuple(_turn(one) for one in messages if one["role"] in ("user", "assistant", "tool")),
            tools=tools,
        )

    def whole(self, asked: Asked, said: Said) -> Plain:
        calls = [_call(call.id, call.name, call.text) for call in said.calls]
        message = {"role": "assistant", "content": said.text or None, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": _FINISH[said.finish]}
        return {**_head(asked, said, "chat.completion"), "choices": [choice], "usage": _usage(said)}

    def events(self, asked: Asked, said: Said) -> Iterator[bytes]:
        head = _head(asked, said, "chat.completion.chunk")

        def chunk(delta: Plain, finish: str | None = None) -> bytes:
            return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        yield chunk({"role": "assistant", "content": ""})
        for piece in pieces(said.text):
            yield chunk({"content": piece})
        for index, call in enumerate(said.calls):
            yield chunk({"tool_calls": [{"index": index, **_call(call.id, call.name, "")}]})
            for piece in pieces(call.text):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield chunk({}, _FINISH[said.finish])
        yield event({**head, "choices": [], "usage": _usage(said)})
        yield b"data: [DONE]\n\n"

    def complaint(self, status: int, what: str) -> Plain:
        return {"error": {"message": what, "type": "scripted", "param": None, "code": None}}


def _turn(message: Plain) -> Turn:
    ids = tuple(call["id"] for call in message.get("tool_calls") or ())
    speakers: dict[str, Any] = {"user": "person", "assistant": "model", "tool": "tool"}
    return Turn(speaker=speakers[message["role"]], text=text_of(message.get("content")), ids=ids)


def _call(number: str, name: str, arguments: str) -> Plain:
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


def _head(asked: Asked, said: Said, kind: str) -> Plain:
    return {"id": f"answer-{said.number}", "object": kind, "created": 1, "model": asked.model}


def _usage(said: Said) -> Plain:
    told, spoken = said.input_tokens, said.output_tokens
    return {"prompt_tokens": told, "completion_tokens": spoken, "total_tokens": told + spoken}
