"""Text that can be sent: half a character, as a file's name or a string of JavaScript may hold, is no text at all."""

from __future__ import annotations

import re
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

_HALF = re.compile("[\ud800-\udfff]")


def sound(value: Any) -> Any:
    """The same value, with a mark in the place of whatever has no bytes that could be sent."""
    match value:
        case str():
            return _HALF.sub("\N{REPLACEMENT CHARACTER}", value)
        case dict():
            return {sound(key): sound(part) for key, part in value.items()}
        case list():
            return [sound(part) for part in value]
        case _:
            return value


async def told_soundly(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Tell what can be told; what cannot be sent would end the connection, and over stdin and stdout the server."""
    try:
        result: HandlerResult = sound(await call_next(ctx))
    except MCPError as error:
        raise MCPError(code=error.code, message=sound(error.message), data=sound(error.data)) from None
    return result
