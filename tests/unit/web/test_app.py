"""What the page's application answers by itself."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from milepost.web.app import application


def status_of(path: str, query: bytes) -> int:
    """The status of the answer to a request as a server hands it on, whose query may be any bytes."""
    nothing: Any = SimpleNamespace(stream=None, roadmap=None)
    sent: list[Any] = []
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "headers": [], "scheme": "http"}

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(application(nothing, nothing)({**scope, "server": ("127.0.0.1", 1)}, receive, send))
    return int(sent[0]["status"])


def test_a_query_that_is_no_text_is_answered_where_no_route_is() -> None:
    assert [status_of("/api/plan/", query) for query in (b"%FF", b"\xff")] == [404, 404]
