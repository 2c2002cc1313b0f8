"""An answer as it is streamed: its lines are told as they come, and a silence in the middle of it is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import StreamedResponse

from milepost.agents.models.faults import Fault
from milepost.agents.models.live_messages import sound

BROKE_OFF = "the answer broke off before its end (a server that never sends one needs stream = false under [model])"


async def whole_answer(
    stream: StreamedResponse,
    *,
    stall_s: float,
    hear: Callable[[str], None] | None,
    begun: Callable[[StreamedResponse], None],
) -> ModelResponse:
    """The answer once all of it came; raises a Fault when it stops coming or breaks off.

    `begun` is called when the first piece came: from then on the answer costs something, whatever becomes of it.
    How long the first piece may take is for the caller to bound: models think before they speak.
    """
    spoken, pieces, bound_s = SpokenLines(hear), aiter(stream), None
    while True:
        try:
            async with asyncio.timeout(bound_s):
                piece = await anext(pieces)
        except StopAsyncIteration:
            break
        except TimeoutError:
            raise Fault("silent", f"no further piece of the answer came for {stall_s:g} s") from None
        if bound_s is None:
            begun(stream)
        spoken.add(piece)
        bound_s = stall_s
    response = stream.get()
    if _is_cut(response):
        raise Fault("silent", BROKE_OFF)
    return response


class SpokenLines:
    """Tells whole lines of an answer's text; blank ones wait until it goes on after them."""

    def __init__(self, hear: Callable[[str], None] | None) -> None:
        self._hear = hear
        self._unfinished = ""
        self._blank = 0
        self._begun = False
        self._told = False

    def add(self, piece: ModelResponseStreamEvent) -> None:
        if isinstance(piece, PartStartEvent) and isinstance(piece.part, TextPart):
            self._take(("\n" if self._begun else "") + piece.part.content)
            self._begun = True
        elif isinstance(piece, PartDeltaEvent) and isinstance(piece.delta, TextPartDelta):
            self._take(piece.delta.content_delta)

    def _take(self, text: str) -> None:
        if self._hear is None:
            return
        *ended, self._unfinished = (self._unfinished + text).split("\n") if "\n" in text else [self._unfinished + text]
        for line in (line for one in ended for line in one.splitlines() or [""]):
            self._tell(line, self._hear)

    def _tell(self, line: str, hear: Callable[[str], None]) -> None:
        if not line.strip():
            self._blank += self._told  # those before the first line are no part of the answer
            return
        for _ in range(self._blank):
            hear("")
        hear(sound(line if self._told else line.lstrip()))
        self._blank, self._told = 0, True


def _is_cut(response: ModelResponse) -> bool:
    """Whether the stream ended before the model did: the library makes an end up for servers that send none."""
    told = "finish_reason" in (response.provider_details or {})
    return response.state != "complete" or (not told and response.finish_reason in (None, "stop"))
