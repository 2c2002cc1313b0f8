"""The server that every profile registers its tools, resources and prompts on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool

from milepost import __version__
from milepost.mcp.errors import as_internal, by_names_of
from milepost.mcp.log_levels import serve_levels
from milepost.mcp.pages import in_pages
from milepost.mcp.sendable_text import told_soundly
from milepost.serving.warnings import tell_on_stderr


def new_server(*, name: str = "milepost", instructions: str, tools: Sequence[Tool] = ()) -> MCPServer[dict[str, Any]]:
    """A server that offers `tools` and no more yet; `instructions` is what a model reads first, and clients often cut.

    What its tools log is told on stderr.
    """
    tell_on_stderr("milepost mcp")
    server: MCPServer[dict[str, Any]] = MCPServer(
        name,
        title="Milepost",
        instructions=instructions,
        version=__version__,
        tools=list(tools),
        log_level="WARNING",
        middleware=[told_soundly, as_internal, in_pages],
    )
    server.middleware.append(by_names_of(server))
    serve_levels(server)
    return server
