"""A conversation with a language model: what it is told, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from milepost.agents.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model is told of it; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model wants to be run."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of a call, as text for the model."""

    call: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What the model is asked to do."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model says and what it wants to be run; without calls, it has nothing left to do."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What came of the calls of the answer before, in their order."""

    results: tuple[ToolResult, ...]


Message = Prompt | Answer | Results


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All that has been said in one attempt, the tools on offer, and the time left for an answer."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    timeout_s: float


class Model(Protocol):
    """Answers a conversation, or raises TimeoutError when the time left is not enough."""

    def answer(self, conversation: Conversation) -> Answer: ...
