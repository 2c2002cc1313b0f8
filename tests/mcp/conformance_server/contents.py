"""Tools that return each kind of content there is, and one that fails."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import AudioContent, ContentBlock, EmbeddedResource, ImageContent, TextContent, TextResourceContents

from tests.mcp.conformance_server.samples import PNG, WAV


def add_contents(server: MCPServer[dict[str, Any]]) -> None:
    for tool in (simple_text, image_content, audio_content, embedded_resource, multiple_content_types, error_handling):
        server.add_tool(tool, name=f"test_{tool.__name__}")


def simple_text() -> list[ContentBlock]:
    """Returns one text."""
    return [text("This is a simple text response for testing.")]


def image_content() -> list[ContentBlock]:
    """Returns a picture."""
    return [_picture()]


def audio_content() -> list[ContentBlock]:
    """Returns a sound."""
    return [AudioContent(type="audio", data=WAV, mime_type="audio/wav")]


def embedded_resource() -> list[ContentBlock]:
    """Returns a resource with its content."""
    return [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


def multiple_content_types() -> list[ContentBlock]:
    """Returns a text, a picture and a resource."""
    mixed = resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return [text("Multiple content types test:"), _picture(), mixed]


def error_handling() -> list[ContentBlock]:
    """Always fails."""
    raise ToolError("This tool intentionally returns an error for testing")


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def resource(uri: str, mime_type: str, words: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=words))


def _picture() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")
