"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fakes.wires.wire import Asked, Plain, Said, Speaker, Turn, event, pieces, text_of

_FINISH = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens"}
_COMPLAINTS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class Messages:
    name = "messages"

    def read(self, path: str, body: Plain) -> Asked:
        return Asked(
            model=body.get("model", ""),
            streaming=bool(body.get("stream")),
            system=text_of(body.get("system")),
            turns=tuple(turn for message in body.get("messages", ()) for turn in _turns(message)),
            tools={tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools") or ()},
        )

    def whole(self, asked: Asked, said: Said) -> Plain:
        text = [{"type": "text", "text": said.text}] if said.text else []
        calls = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.object} for call in said.calls]
        usage = {"input_tokens": said.input_tokens, "output_tokens": said.output_tokens}
        cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        return {
            "id": f"msg_answer_{said.number}",
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": [*text, *calls],
            "stop_reason": _FINISH[said.finish],
            "stop_sequence": None,
            "usage": {**usage, **cached},
        }

    def events(self, asked: Asked, said: Said) -> Iterator[bytes]:
        def told(kind: str, **more: Any) -> bytes:
            return event({"type": kind, **more}, kind)

        def block(index: int, opening: Plain, deltas: list[Plain]) -> Iterator[bytes]:
            yield told("content_block_start", index=index, content_block=opening)
            for delta in deltas:
                yield told("content_block_delta", index=index, delta=delta)
            yield told("content_block_stop", index=index)

        whole = self.whole(asked, said)
        begun: Plain = {"content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
        yield told("message_start", message={**whole, **begun})
        if said.text:
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(said.text)]
            yield from block(0, {"type": "text", "text": ""}, deltas)
        for index, call in enumerate(said.calls, start=1 if said.text else 0):
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(call.text)]
            yield from block(index, {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas)
        ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield told("message_delta", delta=ending, usage={"output_tokens": said.output_tokens})
        yield told("message_stop")

    def complaint(self, status: int, what: str) -> Plain:
        return {"type": "error", "error": {"type": _COMPLAINTS.get(status, "api_error"), "message": what}}


def _turns(message: Plain) -> Iterator[Turn]:
    content = message.get("content") or ""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    speaker: Speaker = "model" if message["role"] == "assistant" else "person"
    for part in parts:
        match part.get("type"):
            case "tool_use":
                yield Turn(speaker="model", ids=(part["id"],))
            case "tool_result":
                yield Turn(speaker="tool", text=text_of(part.get("content")))
            case "text":
                yield Turn(speaker=speaker, text=part["text"])
            case _:
                pass
