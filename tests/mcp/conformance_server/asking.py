"""Tools that ask the client in the middle of a call, as the older protocol does it."""

from __future__ import annotations

import json
from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    SamplingMessage,
    TextContent,
)

from tests.mcp.conformance_server.contents import text

_ONE_OF_THREE: Final = ["option1", "option2", "option3"]
USER: Final = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
WITH_DEFAULTS: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
    "required": [],
}


def _titled(word: str) -> list[dict[str, str]]:
    return [
        {"const": f"value{number}", "title": f"{name} {word}"}
        for number, name in enumerate(("First", "Second", "Third"), 1)
    ]


CHOICES: Final = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _ONE_OF_THREE},
        "titledSingle": {"type": "string", "oneOf": _titled("Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _ONE_OF_THREE}},
        "titledMulti": {"type": "array", "items": {"anyOf": _titled("Choice")}},
    },
    "required": [],
}


def add_questions(server: MCPServer[dict[str, Any]]) -> None:
    for tool in (sampling, elicitation, elicitation_sep1034_defaults, elicitation_sep1330_enums):
        server.add_tool(tool, name=f"test_{tool.__name__}")


async def sampling(prompt: str, ctx: Context[Any, Any]) -> list[ContentBlock]:
    """Has the client's model answer a prompt."""
    asked = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    request = CreateMessageRequest(params=CreateMessageRequestParams(messages=[asked], max_tokens=100))
    related = ServerMessageMetadata(related_request_id=ctx.request_context.request_id)
    answered = await ctx.session.send_request(request, CreateMessageResult, metadata=related)
    said = answered.content.text if isinstance(answered.content, TextContent) else f"({answered.content.type})"
    return [text(f"LLM response: {said}")]


async def elicitation(message: str, ctx: Context[Any, Any]) -> list[ContentBlock]:
    """Has the client ask its user for a name and an address."""
    return [text(f"User response: {await _asked(ctx, message, USER)}")]


async def elicitation_sep1034_defaults(ctx: Context[Any, Any]) -> list[ContentBlock]:
    """Has the client ask with a default for each kind of field."""
    return [text(f"Elicitation completed: {await _asked(ctx, 'Please review these fields', WITH_DEFAULTS)}")]


async def elicitation_sep1330_enums(ctx: Context[Any, Any]) -> list[ContentBlock]:
    """Has the client ask with each kind of choice."""
    return [text(f"Elicitation completed: {await _asked(ctx, 'Please choose', CHOICES)}")]


async def _asked(ctx: Context[Any, Any], message: str, schema: dict[str, Any]) -> str:
    answered = await ctx.session.elicit_form(message, schema, ctx.request_context.request_id)
    return f"action={answered.action}, content={json.dumps(answered.content)}"
