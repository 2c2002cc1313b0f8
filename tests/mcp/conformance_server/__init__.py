"""The named fixtures that the protocol's official conformance suite calls, on the same core as the product.

`python -m tests.mcp.conformance_server` serves them on a free port and prints its address.
"""

from __future__ import annotations

from typing import Any, Final

from mcp.server.mcpserver import MCPServer

from milepost.mcp.http import Ready, serve
from milepost.mcp.server import new_server
from tests.mcp.conformance_server.asking import add_questions
from tests.mcp.conformance_server.changing import add_changes
from tests.mcp.conformance_server.contents import add_contents
from tests.mcp.conformance_server.prompts import add_prompts
from tests.mcp.conformance_server.resources import add_resources
from tests.mcp.conformance_server.resuming import RecentMessages
from tests.mcp.conformance_server.rounds import add_rounds
from tests.mcp.conformance_server.schemas import add_schemas
from tests.mcp.conformance_server.working import add_work

INSTRUCTIONS: Final = "Fixtures of the conformance suite of the Model Context Protocol. Nothing here does anything."


def build_conformance(server: MCPServer[dict[str, Any]]) -> None:
    """Register every fixture on a server."""
    for add in (
        add_contents, add_work, add_questions, add_rounds, add_schemas, add_changes, add_resources, add_prompts,
    ):  # fmt: skip
        add(server)


async def serve_conformance(*, on_ready: Ready) -> None:
    """Serve the fixtures on loopback without a token: the suite cannot send one."""
    server = new_server(name="milepost-conformance", instructions=INSTRUCTIONS)
    build_conformance(server)
    await serve(server, port=0, token=None, ready=on_ready, events=RecentMessages())
