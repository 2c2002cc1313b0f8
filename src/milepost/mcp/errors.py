"""What goes wrong with a request, told as the protocol wants it, and no more of it than the client may know."""

from __future__ import annotations

import logging
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

_log = logging.getLogger(__name__)


async def as_internal(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Tell a crash as an internal error; in the older protocol the SDK would send its text, with no code."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception:
        _log.exception("%s crashed", ctx.method[:100])
        raise MCPError(code=INTERNAL_ERROR, message="Internal server error") from None


def by_names_of(server: MCPServer[dict[str, Any]]) -> ServerMiddleware[Any]:
    """What looks up tools and prompts before they are called; the SDK takes an unknown one for a failure of its own."""

    async def look_up(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        name, given = (ctx.params or {}).get("name"), (ctx.params or {}).get("arguments")
        if ctx.method == "tools/call" and isinstance(name, str):
            if name not in {tool.name for tool in await server.list_tools()}:
                raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {name[:100]}")
        elif ctx.method == "prompts/get" and isinstance(name, str):
            await _look_up_prompt(server, name, given if isinstance(given, dict) else {})
        return await call_next(ctx)

    return look_up


async def _look_up_prompt(server: MCPServer[dict[str, Any]], name: str, given: dict[str, Any]) -> None:
    prompt = next((prompt for prompt in await server.list_prompts() if prompt.name == name), None)
    if prompt is None:
        raise MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {name[:100]}")
    missing = [argument.name for argument in prompt.arguments or [] if argument.required and argument.name not in given]
    if missing:
        raise MCPError(code=INVALID_PARAMS, message=f"Missing required arguments: {', '.join(missing)}")
