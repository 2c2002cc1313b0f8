"""OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from tests.fakes.wires.wire import Asked, Plain, Said, Turn, event, pieces, text_of

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


class Responses:
    name = "responses"

    def read(self, path: str, body: Plain) -> Asked:
        stated = body.get("input") or []
        items = [{"role": "user", "content": stated}] if isinstance(stated, str) else stated
        spoken = [text_of(item.get("content")) for item in items if item.get("role") in ("system", "developer")]
        tools = [tool for tool in body.get("tools") or () if tool.get("type") in ("function", "custom")]
        return Asked(
            model=body.get("model", ""),
            streaming=bool(body.get("stream")),
            system="\n".join([body.get("instructions") or "", *spoken]),
            turns=tuple(turn for item in items if (turn := _turn(item)) is not None),
            tools={tool["name"]: tool.get("parameters") or {} for tool in tools},
            freeform=frozenset(tool["name"] for tool in tools if tool["type"] == "custom"),
        )

    def whole(self, asked: Asked, said: Said) -> Plain:
        cut = said.finish == "length"
        status = "incomplete" if cut else "completed"
        why = {"reason": "max_output_tokens"} if cut else None
        return {**_head(asked, said, status), "output": _items(asked, said), "incomplete_details": why} | {
            "usage": _usage(said)
        }

    def events(self, asked: Asked, said: Said) -> Iterator[bytes]:
        sequence = count()

        def told(kind: str, **more: Any) -> bytes:
            return event({"type": kind, "sequence_number": next(sequence), **more}, kind)

        opening = {**_head(asked, said, "in_progress"), "output": [], "incomplete_details": None, "usage": None}
        yield told("response.created", response=opening)
        yield told("response.in_progress", response=opening)
        for index, item in enumerate(_items(asked, said)):
            at = {"item_id": item["id"], "output_index": index}
            begun = {**item, "status": "in_progress", **_empty(item)}
            yield told("response.output_item.added", output_index=index, item=begun)
            match item["type"]:
                case "message":
                    part = item["content"][0]
                    yield told("response.content_part.added", **at, content_index=0, part={**part, "text": ""})
                    for piece in pieces(part["text"]):
                        yield told("response.output_text.delta", **at, content_index=0, delta=piece, logprobs=[])
                    done = {"text": part["text"], "logprobs": []}
                    yield told("response.output_text.done", **at, content_index=0, **done)
                    yield told("response.content_part.done", **at, content_index=0, part=part)
                case "function_call":
                    for piece in pieces(item["arguments"]):
                        yield told("response.function_call_arguments.delta", **at, delta=piece)
                    done = {"name": item["name"], "arguments": item["arguments"]}
                    yield told("response.function_call_arguments.done", **at, **done)
                case _:
                    for piece in pieces(item["input"]):
                        yield told("response.custom_tool_call_input.delta", **at, delta=piece)
                    yield told("response.custom_tool_call_input.done", **at, input=item["input"])
            yield told("response.output_item.done", output_index=index, item=item)
        ending = "response.incomplete" if said.finish == "length" else "response.completed"
        yield told(ending, response=self.whole(asked, said))

    def complaint(self, status: int, what: str) -> Plain:
        return {"error": {"message": what, "type": "scripted", "param": None, "code": None}}


def _turn(item: Plain) -> Turn | None:
    match item.get("type", "message"):
        case "message":
            speakers: dict[str, Any] = {"user": "person", "assistant": "model"}
            speaker = speakers.get(item.get("role", ""))
            return None if speaker is None else Turn(speaker=speaker, text=text_of(item.get("content")))
        case kind if kind in _CALLS:
            return Turn(speaker="model", ids=(item.get("call_id", ""),))
        case kind if kind.endswith("_output"):
            return Turn(speaker="tool", text=text_of(item.get("output")))
        case _:
            return None


def _items(asked: Asked, said: Said) -> list[Plain]:
    items: list[Plain] = []
    if said.text:
        part = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
        items.append({"type": "message", "id": f"msg-{said.number}", "role": "assistant", "content": [part]})
    for call in said.calls:
        free = call.name in asked.freeform
        kind = {"type": "custom_tool_call", "input": call.text} if free else _function(call.text)
        space, _, name = call.name.rpartition(".")  # a tool of a namespace is `namespace.tool`
        within = {"namespace": space} if space else {}
        items.append({"id": f"item-{call.id}", "call_id": call.id, "name": name, **within, **kind})
    return [{**item, "status": "completed"} for item in items]


def _function(arguments: str) -> Plain:
    return {"type": "function_call", "arguments": arguments}


def _empty(item: Plain) -> Plain:
    match item["type"]:
        case "message":
            return {"content": []}
        case "function_call":
            return {"arguments": ""}
        case _:
            return {"input": ""}


def _head(asked: Asked, said: Said, status: str) -> Plain:
    return {
        "id": f"answer-{said.number}",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": asked.model,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }


def _usage(said: Said) -> Plain:
    return {
        "input_tokens": said.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": said.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": said.input_tokens + said.output_tokens,
    }
