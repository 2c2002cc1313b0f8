"""The named fixtures that the protocol's official conformance suite calls, on the same core as the product.

No person needs them: `milepost mcp --http --conformance` offers them instead of Milepost's own tools.
"""

from __future__ import annotations

from typing import Any, Final

from mcp.server.mcpserver import MCPServer

from milepost.mcp.conformance.asking import add_questions
from milepost.mcp.conformance.changing import add_changes
from milepost.mcp.conformance.contents import add_contents
from milepost.mcp.conformance.prompts import add_prompts
from milepost.mcp.conformance.resources import add_resources
from milepost.mcp.conformance.resuming import RecentMessages
from milepost.mcp.conformance.rounds import add_rounds
from milepost.mcp.conformance.schemas import add_schemas
from milepost.mcp.conformance.working import add_work
from milepost.mcp.http import Ready, serve
from milepost.mcp.server import new_server

INSTRUCTIONS: Final = "Fixtures of the conformance suite of the Model Context Protocol. Nothing here does anything."


def build_conformance(server: MCPServer[dict[str, Any]]) -> None:
    """Register every fixture on a server."""
    for add in (
        add_contents, add_work, add_questions, add_rounds, add_schemas, add_changes, add_resources, add_prompts,
    ):  # fmt: skip
        add(server)


async def serve_conformance(*, port: int, on_ready: Ready) -> None:
    """Serve the fixtures on this machine alone, to whoever asks: the suite can send no token."""
    server = new_server(name="milepost-conformance", instructions=INSTRUCTIONS)
    build_conformance(server)
    await serve(server, port=port, token=None, ready=on_ready, events=RecentMessages())
