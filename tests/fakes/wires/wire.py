"""What all wires have in common: a request and an answer as values, and what a wire does with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Plain = dict[str, Any]
Finish = Literal["stop", "calls", "length"]
Speaker = Literal["person", "model", "tool"]
PIECE = 24
PUT_INTO_ITS_MOUTH = ("No response requested.",)  # by Claude Code, where a session was cut short
ID = re.compile(r"^call-(\d+)-\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a conversation, with the ids of the calls in it; many may belong to one answer."""

    speaker: Speaker
    text: str = ""
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request says. `tools` are the schemas by name; a `freeform` tool takes a text instead of an object."""

    model: str
    streaming: bool
    system: str
    turns: tuple[Turn, ...]
    tools: Mapping[str, Plain] = field(default_factory=dict)
    freeform: frozenset[str] = frozenset()
    as_list: bool = False

    @property
    def told(self) -> str:
        """All that people said in it."""
        return "\n".join(turn.text for turn in self.turns if turn.speaker == "person")

    @property
    def returned(self) -> tuple[str, ...]:
        """What the tools returned so far."""
        return tuple(turn.text for turn in self.turns if turn.speaker == "tool")

    def given_after(self, prompt: re.Pattern[str]) -> int:
        """How many answers it has since the prompt: what stands before that are examples.

        The ids of calls count them: programs tell one answer as several messages.
        """
        prompts = (at for at, turn in enumerate(self.turns) if turn.speaker == "person" and prompt.search(turn.text))
        count, speaking = 0, False
        for turn in self.turns[next(prompts, 0) :]:
            if turn.speaker == "model" and turn.text in PUT_INTO_ITS_MOUTH:
                continue
            numbers = [int(found[1]) for one in turn.ids if (found := ID.match(one))]
            if numbers:
                count = max(count, *numbers)
            elif turn.speaker == "model" and not speaking:
                count += 1
            speaking = turn.speaker == "model"
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A call that an answer makes: arguments are an object, or the text of something that should have been one."""

    id: str
    name: str
    arguments: Plain | str

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)

    @property
    def object(self) -> Plain:
        """The arguments on a wire that cannot carry a text there."""
        return {} if isinstance(self.arguments, str) else self.arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An answer, whatever the wire."""

    number: int
    text: str = ""
    calls: tuple[Called, ...] = ()
    finish: Finish = "stop"
    input_tokens: int = 0
    output_tokens: int = 0


class Wire(Protocol):
    """One protocol: reads requests, writes answers whole or as a stream of events, and complaints."""

    @property
    def name(self) -> str: ...
    def read(self, path: str, body: Plain) -> Asked: ...
    def whole(self, asked: Asked, said: Said) -> Any: ...
    def events(self, asked: Asked, said: Said) -> Iterator[bytes]: ...
    def complaint(self, status: int, what: str) -> Plain: ...


def text_of(content: Any) -> str:
    """All text in the content of a message, however it is wrapped."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(text for part in content if (text := text_of(part)))
        case {"text": inner} | {"content": inner} | {"output": inner}:
            return text_of(inner)
        case _:
            return ""


def pieces(text: str) -> Iterable[str]:
    """`text` as a stream brings it."""
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def event(content: Any, name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(content)}\n\n".encode()
