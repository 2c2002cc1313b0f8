"""A call: one question to a model, or one use of a tool, recorded with its answer so that it is made once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

CallKind = Literal["model", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call took; `cost_usd` is what it cost, as far as prices are known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
        )

    def beyond(self, other: Usage) -> Usage:
        """How much more this is than another one."""
        return Usage(
            input_tokens=max(0, self.input_tokens - other.input_tokens),
            output_tokens=max(0, self.output_tokens - other.output_tokens),
            cached_tokens=max(0, self.cached_tokens - other.cached_tokens),
            cost_usd=max(0.0, self.cost_usd - other.cost_usd),
        )

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


NOTHING = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call about to be made. `request` tells it from others: a recorded answer is given only to the same request.

    `most` is the most that it could take: what is reserved of the budget. `changes` says that the workspace may be
    another one afterwards. `argv` is the command that it would run, for whoever must allow it.
    """

    kind: CallKind
    name: str
    summary: str = ""
    request: str = ""
    most: Usage = Usage()
    changes: bool = False
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came of a call: plain JSON values, and what it took. `refused` is why a person did not allow it."""

    body: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage = Usage()
    failed: bool = False
    refused: str = ""
