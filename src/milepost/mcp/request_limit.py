"""How many requests of one client are worked on at once: beyond that they are refused, as is what cannot be read.

A refusal waits like any answer until the client reads, and nothing more is read from the client before that: one who
asks and never listens fills its own pipe and not our memory.
"""

from __future__ import annotations

import contextvars
from collections import Counter
from types import TracebackType
from typing import Final, Self

from anyio import EndOfStream
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

MOST: Final = 1_000
TOO_MANY: Final = -32_000


class Crowd:
    """The requests that are not answered yet; an id may be there more than once."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._many, self._open = most, 0, Counter[RequestId]()

    def comes(self, request: RequestId) -> bool:
        """Count a request in, if there is room for it."""
        if self._many >= self._most:
            return False
        self._open[request] += 1
        self._many += 1
        return True

    def goes(self, request: object) -> None:
        """Count a request out that was answered or cancelled."""
        if not isinstance(request, str | int) or request not in self._open:
            return
        self._many -= 1
        self._open[request] -= 1
        if not self._open[request]:
            del self._open[request]


class Incoming:
    """What a client sends, without what cannot be read or has no room: that is refused on the way."""

    def __init__(
        self, inner: ReadStream[SessionMessage | Exception], outgoing: WriteStream[SessionMessage], crowd: Crowd
    ) -> None:
        self._inner, self._outgoing, self._crowd = inner, outgoing, crowd

    @property
    def last_context(self) -> contextvars.Context | None:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self._inner.receive()
            if isinstance(item, Exception):
                await self._outgoing.send(SessionMessage(_UNREAD))
                continue
            message = item.message
            if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
                self._crowd.goes((message.params or {}).get("requestId"))
            if not isinstance(message, JSONRPCRequest) or self._crowd.comes(message.id):
                return item
            await self._outgoing.send(SessionMessage(_refusal(message.id, TOO_MANY, _CROWDED)))

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, raised, traceback)


class Outgoing:
    """What a client is sent; a request counts until its answer has left."""

    def __init__(self, inner: WriteStream[SessionMessage], crowd: Crowd) -> None:
        self._inner, self._crowd = inner, crowd

    async def send(self, item: SessionMessage, /) -> None:
        await self._inner.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._crowd.goes(item.message.id)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, raised, traceback)


def _refusal(request: RequestId | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=message))


_CROWDED: Final = "too many requests at once: ask again when others are answered"
_UNREAD: Final = _refusal(None, PARSE_ERROR, "this is not a message of the protocol, or it is too long: send another")
