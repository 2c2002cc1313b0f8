"""The server that every profile registers its tools, resources and prompts on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool

from milepost import __version__
from milepost.mcp.complaints import tell_on_stderr


def new_server(*, name: str = "milepost", instructions: str, tools: Sequence[Tool] = ()) -> MCPServer[dict[str, Any]]:
    """A server that offers nothing but `tools` yet; `instructions` is what a client's model reads first, and often cuts."""
    tell_on_stderr()
    return MCPServer(
        name,
        title="Milepost",
        instructions=instructions,
        version=__version__,
        tools=list(tools),
        log_level="WARNING",
    )
