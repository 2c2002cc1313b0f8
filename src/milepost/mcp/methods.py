"""Methods of the protocol that the SDK's server has no decorator for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp_types import EmptyResult, RequestParams

Params = TypeVar("Params", bound=RequestParams)


def answer(
    server: MCPServer[dict[str, Any]],
    method: str,
    params: type[Params],
    handler: Callable[[ServerRequestContext[dict[str, Any]], Params], Awaitable[EmptyResult]],
) -> None:
    """Have the server answer `method`, whose parameters are checked against `params` first."""
    # Its extensions could bind a method as well, but would announce an extension of the protocol to every client.
    server._lowlevel_server.add_request_handler(method, params, handler)
