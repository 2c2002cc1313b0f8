"""What was sent over HTTP lately, for a client whose connection broke and who comes back for the rest."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage

KEPT = 1_000
KEPT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One event: the stream it went over, and the message, which the first event of a stream has none of."""

    stream: StreamId
    message: JSONRPCMessage | None
    size: int


class RecentMessages(EventStore):
    """The last events of all streams in memory, bounded in number and bytes; the oldest go first."""

    def __init__(self, *, kept: int = KEPT, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept, self._kept_bytes = kept, kept_bytes
        self._events: OrderedDict[EventId, Sent] = OrderedDict()
        self._bytes = 0

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        size = len(message.model_dump_json(by_alias=True)) if message is not None else 0
        event_id = secrets.token_urlsafe(18)  # nobody can guess their way into the stream of another session
        self._events[event_id] = Sent(stream=stream_id, message=message, size=size)
        self._bytes += size
        while len(self._events) > self._kept or self._bytes > self._kept_bytes:
            self._bytes -= self._events.popitem(last=False)[1].size
        return event_id

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        last = self._events.get(last_event_id)
        if last is None:
            return None
        ids = list(self._events)
        for event_id in ids[ids.index(last_event_id) + 1 :]:
            event = self._events.get(event_id)
            if event is not None and event.stream == last.stream and event.message is not None:
                await send_callback(EventMessage(event.message, event_id))
        return last.stream
