"""How tools are offered over MCP: strict arguments, brief results, failures in one line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import pytest

pytest.importorskip("mcp", reason="the package mcp is not installed: pip install 'milepost[mcp]'")

from mcp.client import Client
from mcp_types import CallToolResult, TextContent, Tool
from pydantic import Field

import milepost
from milepost.mcp.profiles import Profile, build
from milepost.mcp.server import new_server
from milepost.mcp.tool import Brief, slim, strict_tool

TOKENS = {"core": 2_800, "full": 5_700}  # of the whole list, 4 characters each: users pay for every one of them
SEEN_TOKENS = {"core": 1_450, "full": 2_850}  # of what a model is shown of it: names, descriptions, arguments


class Told(Brief):
    number: int
    note: str = ""
    several: tuple[str, ...] = ()


async def sample(number: Annotated[int, Field(ge=1, le=9)], note: str = "", most: int | None = None) -> Told:
    """Tell a number."""
    if note == "refuse":
        raise milepost.Misuse("there is no\nnumber", "give one")
    if note == "full":
        raise OSError(28, "No space left on device")
    if note == "crash":
        raise RuntimeError("secret detail")
    return Told(number=number)


def answers(*arguments: dict[str, Any]) -> list[CallToolResult]:
    """What a client is answered, call by call."""

    async def call() -> list[CallToolResult]:
        async with Client(new_server(instructions="", tools=[strict_tool(sample)])) as client:
            return [await client.call_tool("sample", one) for one in arguments]

    return asyncio.run(call())


def text_of(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


def listed(profile: Profile) -> list[Tool]:
    async def look() -> list[Tool]:
        async with Client(build(profile, Path.cwd())) as client:
            return (await client.list_tools()).tools

    return asyncio.run(look())


def test_a_result_is_brief_and_the_same_as_text_and_as_structured_content() -> None:
    (result,) = answers({"number": 3})

    assert text_of(result) == '{"number":3}'
    assert result.structured_content == {"number": 3}


def test_arguments_that_do_not_fit_are_refused_in_one_line_without_their_values() -> None:
    unknown, large, missing, nothing = answers(
        {"number": 1, "colour": "violet"}, {"number": 10}, {"note": "violet"}, {"number": 1, "most": None}
    )

    assert text_of(unknown) == "arguments refused: colour: extra inputs are not permitted"
    assert text_of(large) == "arguments refused: number: input should be less than or equal to 9"
    assert text_of(missing) == "arguments refused: number: field required"
    assert all(result.is_error for result in (unknown, large, missing)) and not nothing.is_error


def test_what_milepost_refuses_is_said_in_one_line_with_what_to_do_and_a_crash_tells_nothing() -> None:
    refused, full, crashed = answers(*({"number": 1, "note": note} for note in ("refuse", "full", "crash")))

    assert (text_of(refused), refused.is_error) == ("there is no number: give one", True)
    assert (text_of(full), full.is_error) == ("the machine refuses: No space left on device", True)
    assert crashed.is_error and "secret" not in text_of(crashed) and "Traceback" not in text_of(crashed)


@pytest.mark.parametrize("profile", ["core", "full"])
def test_every_tool_bounds_its_arguments_names_its_workspace_and_has_an_output_schema(profile: Profile) -> None:
    for tool in listed(profile):
        properties = tool.input_schema["properties"]
        assert tool.input_schema["additionalProperties"] is False, tool.name
        assert "workspace" in properties, tool.name
        assert tool.output_schema is not None and tool.output_schema["type"] == "object", tool.name
        assert tool.annotations is not None and tool.description and "\n" not in tool.description, tool.name
        for name, schema in properties.items():
            assert is_bounded(schema), f"{tool.name}.{name}: {schema}"


def is_bounded(schema: dict[str, Any]) -> bool:
    if "anyOf" in schema:
        return all(map(is_bounded, schema["anyOf"]))
    match schema.get("type"):
        case "string":
            return "maxLength" in schema or "enum" in schema
        case "integer" | "number":
            return ("minimum" in schema or "exclusiveMinimum" in schema) and "maximum" in schema
        case "array":
            return "maxItems" in schema and is_bounded(schema["items"])
        case "object":
            return "maxProperties" in schema
        case kind:
            return kind == "boolean"


@pytest.mark.parametrize("profile", ["core", "full"])
def test_the_list_of_tools_costs_no_more_than_is_stated(profile: Profile) -> None:
    tools = listed(profile)
    whole = sum(len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in tools)
    seen = [{"name": one.name, "description": one.description, "input_schema": one.input_schema} for one in tools]

    assert len(tools) == {"core": 8, "full": 18}[profile]
    assert whole // 4 <= TOKENS[profile]
    assert len(json.dumps(seen, separators=(",", ":"))) // 4 <= SEEN_TOKENS[profile]


def test_a_schema_keeps_a_property_that_is_called_title_and_loses_what_only_costs() -> None:
    schema = {
        "title": "Arguments",
        "properties": {
            "title": {"title": "Title", "type": "string"},
            "most": {"anyOf": [{"type": "integer", "maximum": 9}, {"type": "null"}], "default": None},
        },
    }

    assert slim(schema) == {
        "properties": {"title": {"type": "string"}, "most": {"type": "integer", "maximum": 9}},
    }
