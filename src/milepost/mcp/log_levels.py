"""What a call tells its client on the way, from the level on that the client asked for."""

from __future__ import annotations

from typing import Any, Final, get_args

from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    EmptyResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    SetLevelRequestParams,
)

from milepost.mcp.methods import answer
from milepost.mcp.sendable_text import sound

LEVELS: Final[tuple[LoggingLevel, ...]] = get_args(LoggingLevel)
_ASKED = "milepost.level"


def serve_levels(server: MCPServer[dict[str, Any]]) -> None:
    """Let clients of the older protocol say what they want to hear, once for a session."""

    async def set_level(ctx: ServerRequestContext[dict[str, Any]], params: SetLevelRequestParams) -> EmptyResult:
        _session_state(ctx)[_ASKED] = params.level
        return EmptyResult()

    answer(server, "logging/setLevel", SetLevelRequestParams, set_level)


async def say(ctx: Context[Any, Any], level: LoggingLevel, text: str) -> None:
    """Tell the client of a call something, if it asked to hear what is as grave as this."""
    request = ctx.request_context
    asked: LoggingLevel = _session_state(request).get(_ASKED, "info")
    heard = allowed_log_levels(request.protocol_version, request.meta)
    if level not in heard or (len(heard) == len(LEVELS) and LEVELS.index(level) < LEVELS.index(asked)):
        return
    told = LoggingMessageNotificationParams(level=level, data=sound(text), logger="milepost")
    await ctx.session.send_notification(LoggingMessageNotification(params=told), related_request_id=request.request_id)


def _session_state(ctx: ServerRequestContext[dict[str, Any]]) -> dict[str, Any]:
    # The SDK keeps state for each connection but hands only its session to those who answer.
    return ctx.session._connection.state
