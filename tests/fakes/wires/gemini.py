"""Gemini's generateContent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.fakes.wires.wire import Asked, Plain, Said, Speaker, Turn, event, pieces, text_of

_FINISH = {"stop": "STOP", "calls": "STOP", "length": "MAX_TOKENS"}
_COMPLAINTS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
_PATH = re.compile(r"/models/([^/:]+):(\w+)")


class Gemini:
    name = "gemini"

    def read(self, path: str, body: Plain) -> Asked:
        found = _PATH.search(path)
        offered = [
            declared for tool in body.get("tools") or () for declared in _either(tool, "functionDeclarations") or ()
        ]
        return Asked(
            model=found[1] if found else "",
            streaming=bool(found and found[2].startswith("stream")),
            system=text_of((_either(body, "systemInstruction") or {}).get("parts")),
            turns=tuple(turn for content in body.get("contents", ()) for turn in _turns(content)),
            tools={one["name"]: _either(one, "parametersJsonSchema") or one.get("parameters") or {} for one in offered},
            as_list="alt=sse" not in path,
        )

    def whole(self, asked: Asked, said: Said) -> Plain:
        text = [{"text": said.text}] if said.text else []
        calls = [{"functionCall": {"id": call.id, "name": call.name, "args": call.object}} for call in said.calls]
        return self._part(asked, said, [*text, *calls], last=True)

    def events(self, asked: Asked, said: Said) -> Iterator[bytes]:
        told = [self._part(asked, said, [{"text": piece}], last=False) for piece in pieces(said.text)]
        calls = [{"functionCall": {"id": call.id, "name": call.name, "args": call.object}} for call in said.calls]
        told += [self._part(asked, said, [call], last=False) for call in calls]
        told.append(self._part(asked, said, [], last=True))
        if not asked.as_list:
            yield from map(event, told)
            return
        for index, one in enumerate(told):
            yield ("," if index else "[").encode() + json.dumps(one).encode()
        yield b"]"

    def complaint(self, status: int, what: str) -> Plain:
        return {"error": {"code": status, "message": what, "status": _COMPLAINTS.get(status, "UNKNOWN")}}

    def _part(self, asked: Asked, said: Said, parts: list[Plain], *, last: bool) -> Plain:
        candidate: Plain = {"content": {"role": "model", "parts": parts or [{"text": ""}]}, "index": 0}
        ending: Plain = {"finishReason": _FINISH[said.finish]} if last else {}
        usage = {
            "promptTokenCount": said.input_tokens,
            "candidatesTokenCount": said.output_tokens,
            "totalTokenCount": said.input_tokens + said.output_tokens,
        }
        return {
            "candidates": [{**candidate, **ending}],
            "modelVersion": asked.model,
            "responseId": f"answer-{said.number}",
            **({"usageMetadata": usage} if last else {}),
        }


def _turns(content: Plain) -> Iterator[Turn]:
    speaker: Speaker = "model" if content.get("role") == "model" else "person"
    for part in content.get("parts") or ():
        if call := _either(part, "functionCall"):
            yield Turn(speaker="model", ids=(call.get("id") or "",))
        elif result := _either(part, "functionResponse"):
            yield Turn(speaker="tool", text=json.dumps(result.get("response")))
        elif "text" in part:
            yield Turn(speaker=speaker, text=part["text"])


def _either(content: Plain, name: str) -> Any:
    """A field, which some clients spell with underscores."""
    return content.get(name, content.get(re.sub(r"([A-Z])", r"_\1", name).lower()))
