"""Whether the fixtures that the suite calls are there at all: some of its scenarios pass without theirs."""

from __future__ import annotations

from typing import Any, Final, Literal

from mcp import Client
from mcp.server.mcpserver import MCPServer

Mode = Literal["auto", "legacy"]
MODES: Final[tuple[Mode, ...]] = ("auto", "legacy")
TOOLS: Final = frozenset(
    f"test_{name}"
    for name in (
        "simple_text", "image_content", "audio_content", "embedded_resource", "multiple_content_types",
        "tool_with_logging", "logging_tool", "error_handling", "tool_with_progress", "reconnection",
        "sampling", "elicitation", "elicitation_sep1034_defaults", "elicitation_sep1330_enums", "streaming_elicitation",
        "custom_header", "missing_capability", "trigger_tool_change", "trigger_prompt_change",
        *(f"input_required_result_{kind}" for kind in (
            "elicitation", "sampling", "list_roots", "request_state", "multiple_inputs", "multi_round",
            "tampered_state", "capabilities",
        )),
    )
) | {"json_schema_2020_12_tool"}  # fmt: skip
RESOURCES: Final = frozenset({"test://static-text", "test://static-binary", "test://watched-resource"})
TEMPLATES: Final = frozenset({"test://template/{id}/data"})
PROMPTS: Final = frozenset(
    {
        "test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_embedded_resource",
        "test_prompt_with_image", "test_input_required_result_prompt",
    }
)  # fmt: skip


async def astray(server: str | MCPServer[Any], mode: Mode) -> list[str]:
    """The names of fixtures that are missing, or there without being known, as one client sees it."""
    async with Client(server, mode=mode) as client:
        offered = {
            "tool": ({tool.name for tool in (await client.list_tools()).tools}, TOOLS),
            "resource": ({each.uri for each in (await client.list_resources()).resources}, RESOURCES),
            "template": (
                {each.uri_template for each in (await client.list_resource_templates()).resource_templates},
                TEMPLATES,
            ),
            "prompt": ({prompt.name for prompt in (await client.list_prompts()).prompts}, PROMPTS),
        }
    return [f"{kind} {name}" for kind, (there, wanted) in offered.items() for name in sorted(there ^ wanted)]
