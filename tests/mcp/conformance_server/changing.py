"""Tools that change what the server offers while clients listen."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp_types import ContentBlock

from tests.mcp.conformance_server.contents import simple_text, text

PASSING: Final = "test_passing"


def add_changes(server: MCPServer[dict[str, Any]]) -> None:
    async def trigger_tool_change(ctx: Context[Any, Any]) -> list[ContentBlock]:
        """Adds a tool and takes it away again, and tells of it."""
        server.add_tool(simple_text, name=PASSING)
        server.remove_tool(PASSING)
        await ctx.notify_tools_changed()
        return [text("The list of tools changed")]

    async def trigger_prompt_change(ctx: Context[Any, Any]) -> list[ContentBlock]:
        """Adds a prompt and takes it away again, and tells of it."""
        server.add_prompt(Prompt.from_function(_passing, name=PASSING))
        server._prompt_manager.remove_prompt(PASSING)
        await ctx.notify_prompts_changed()
        return [text("The list of prompts changed")]

    for tool in (trigger_tool_change, trigger_prompt_change):
        server.add_tool(tool, name=f"test_{tool.__name__}")


def _passing() -> str:
    """A prompt that is there for a moment."""
    return "Gone before anybody reads it."
