"""Tools that take a moment: they log, report progress, and drop the connection before they answer."""

from __future__ import annotations

from typing import Any, Final

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ContentBlock

from milepost.mcp.log_levels import say
from tests.mcp.conformance_server.contents import text

MOMENT_S: Final = 0.05


def add_work(server: MCPServer[dict[str, Any]]) -> None:
    for tool in (tool_with_logging, logging_tool, tool_with_progress, reconnection):
        server.add_tool(tool, name=f"test_{tool.__name__}")


async def tool_with_logging(ctx: Context[Any, Any]) -> list[ContentBlock]:
    """Logs three lines while it works."""
    await say(ctx, "info", "Tool execution started")
    await anyio.sleep(MOMENT_S)
    await say(ctx, "info", "Tool processing data")
    await anyio.sleep(MOMENT_S)
    await say(ctx, "info", "Tool execution completed")
    return [text("Tool with logging executed successfully")]


async def logging_tool(ctx: Context[Any, Any]) -> list[ContentBlock]:
    """Logs a line, which only those hear who asked for it."""
    await say(ctx, "info", "Logged for whoever asked")
    return [text("Logged")]


async def tool_with_progress(ctx: Context[Any, Any]) -> list[ContentBlock]:
    """Reports progress at the start, in the middle and at the end."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await anyio.sleep(MOMENT_S)
    return [text("Tool with progress executed successfully")]


async def reconnection(ctx: Context[Any, Any]) -> list[ContentBlock]:
    """Closes the stream of its own call, so that the client must come back for the answer."""
    await ctx.close_sse_stream()
    await anyio.sleep(MOMENT_S)
    return [text("Reconnection test completed")]
