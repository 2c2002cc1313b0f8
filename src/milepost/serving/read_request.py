"""A request as it comes in: headers of which each is there once, and a body that comes in time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from starlette.types import Message, Receive

Headers = Iterable[tuple[bytes, bytes]]
TWICE = "\0"  # no header has this value


def only(headers: Headers, name: bytes) -> str | None:
    """The value of a header, None where it is not there; one that is there twice is never right."""
    values = [value.decode("latin-1") for key, value in headers if key.lower() == name]
    return None if not values else values[0] if len(values) == 1 else TWICE


class Timed:
    """A request's body, all of which is there in time, or the client counts as gone."""

    def __init__(self, receive: Receive, body_s: float) -> None:
        self._receive, self._complete = receive, False
        self._deadline = asyncio.get_running_loop().time() + body_s

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        self._complete = message["type"] != "http.request" or not message.get("more_body", False)
        return message
