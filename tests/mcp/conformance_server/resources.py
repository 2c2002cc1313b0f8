"""Resources: a text, a picture, one for each id, and one to be watched."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from milepost.mcp.methods import answer
from tests.mcp.conformance_server.samples import png


def add_resources(server: MCPServer[dict[str, Any]]) -> None:
    @server.resource("test://static-text", name="static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text that stays as it is."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", name="static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """A picture that stays as it is."""
        return png()

    @server.resource("test://watched-resource", name="watched-resource", mime_type="text/plain")
    def watched_resource() -> str:
        """A text that clients may watch."""
        return "Watched resource content"

    @server.resource("test://template/{id}/data", name="template", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002
        """A text for each id."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    _add_watching(server)


def _add_watching(server: MCPServer[dict[str, Any]]) -> None:
    """Let clients of the older protocol watch a resource; nothing here ever changes, so nobody is told anything."""

    async def subscribe(ctx: ServerRequestContext[dict[str, Any]], params: SubscribeRequestParams) -> EmptyResult:
        return EmptyResult()

    async def unsubscribe(ctx: ServerRequestContext[dict[str, Any]], params: UnsubscribeRequestParams) -> EmptyResult:
        return EmptyResult()

    answer(server, "resources/subscribe", SubscribeRequestParams, subscribe)
    answer(server, "resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)
