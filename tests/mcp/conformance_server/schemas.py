"""Tools whose schema says more than a signature can, or whose argument is a header, too."""

from __future__ import annotations

from typing import Annotated, Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY, ContentBlock
from pydantic import Field

from tests.mcp.conformance_server.contents import text

SCHEMA_TOOL: Final = "json_schema_2020_12_tool"
SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def add_schemas(server: MCPServer[dict[str, Any]]) -> None:
    server.add_tool(contact, name=SCHEMA_TOOL)
    # A tool that is added by its function has the schema of its signature; there is no other way to add one later.
    registered = server._tool_manager.get_tool(SCHEMA_TOOL)
    assert registered is not None
    registered.parameters = SCHEMA
    server.add_tool(custom_header, name="test_custom_header")
    server.add_tool(missing_capability, name="test_missing_capability")


async def contact(
    name: str = "", address: dict[str, str] | None = None, phone: str = "", email: str = ""
) -> list[ContentBlock]:
    """Tool with JSON Schema 2020-12 features"""
    return [text(f"{name} is reached by {phone or email or address}")]


async def custom_header(
    region: Annotated[str, Field(description="Sent as a header, too", json_schema_extra={"x-mcp-header": "Region"})],
) -> list[ContentBlock]:
    """Has an argument that comes as a header as well, and both must agree."""
    return [text(f"Region: {region}")]


async def missing_capability(ctx: Context[Any, Any]) -> list[ContentBlock]:
    """Needs a client that has a model to ask."""
    declared = ctx.client_capabilities
    if declared is None or declared.sampling is None:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(code=MISSING_REQUIRED_CLIENT_CAPABILITY, message="this needs sampling", data=needed)
    return [text("The client can be asked")]
