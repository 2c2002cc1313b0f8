"""A conversation with a language model: what it is told, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from milepost.agents.models.schema import Schema
from milepost.core.calls import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model is told of it; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model wants to be run; `problem` is why its arguments could not be read."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of a call, as text for the model; `enforced` is what the sandbox held, None when it ran nothing."""

    call: str
    text: str
    failed: bool = False
    enforced: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What the model is asked to do, or reminded of."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model says and what it wants to be run; without calls, it has nothing left to do.

    `flaw` is why the answer cannot be used, when it cannot: it was cut off, it is empty. `raw` is what the model
    wants to be given back with its own words, in its library's form; empty when there is nothing else.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    flaw: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What came of the calls of the answer before, in their order."""

    results: tuple[ToolResult, ...]


Message = Prompt | Answer | Results


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All that has been said in one attempt, the tools on offer, and the time left for an answer.

    `key` is the same whenever the same question is asked again, so that a service can charge it once. `number` is the
    how-manieth question of its attempt it is, 0 where nobody counts. `hear` is told the lines of the answer's text as
    they come; the answer has them all again.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    timeout_s: float
    key: str = ""
    number: int = 0
    hear: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    @property
    def answered(self) -> int:
        """How many answers were given so far."""
        return sum(isinstance(message, Answer) for message in self.messages)


class Model(Protocol):
    """Answers a conversation; raises TimeoutError when the time left is not enough, a Fault when nobody answers.

    `most` is the most that an answer could take. Without a known price, its cost is 0.
    """

    @property
    def name(self) -> str: ...
    @property
    def price_known(self) -> bool: ...
    def most(self, conversation: Conversation) -> Usage: ...
    def answer(self, conversation: Conversation) -> Answer: ...
