"""A tool as we offer it: unknown arguments are refused, results are brief, and what goes wrong is said in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

import milepost

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

MOST_PROBLEMS = 3
LONGEST_PROBLEM = 600
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)


class Brief(BaseModel):
    """A result; what is as it usually is, is left out of it."""

    model_config = ConfigDict(frozen=True)


class _Refusing(ArgModelBase):
    """Arguments among which there may be no unknown ones."""

    model_config = ConfigDict(extra="forbid")


class StrictTool(Tool):
    """A tool whose failures are results that a model can read and act upon; only a mistake of ours is a crash."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        try:
            result = await super().run(arguments, context)
        except MCPError:
            raise
        except ToolError as error:
            said = problem_in_words(error.__cause__)
            if said is None:
                raise
            return failed(said)
        return told(result) if convert_result else result


def strict_tool(fn: Callable[..., Any], annotations: ToolAnnotations = READS) -> StrictTool:
    """The tool that a function is: its name, its docstring, its arguments, its result."""
    tool = StrictTool.from_function(fn, annotations=annotations, description=one_paragraph(fn.__doc__ or ""))
    assert isinstance(tool, StrictTool)
    known = tool.fn_metadata.arg_model
    strict = cast("type[ArgModelBase]", create_model(known.__name__, __base__=(_Refusing, known)))
    tool.fn_metadata.arg_model = strict
    tool.parameters = slim(strict.model_json_schema(by_alias=True))
    tool.fn_metadata.output_schema = slim(tool.fn_metadata.output_schema or {}, without=("title", "default"))
    return tool


def one_paragraph(text: str) -> str:
    return " ".join(text.split())


def told(result: Any) -> CallToolResult | InputRequiredResult:
    """A result for a client: the same brief value as text and as structured content."""
    if not isinstance(result, Brief):
        assert isinstance(result, CallToolResult | InputRequiredResult), "a tool gives a brief result"
        return result
    brief = result.model_dump(mode="json", exclude_defaults=True)
    text = json.dumps(brief, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=brief)


def failed(text: str) -> CallToolResult:
    """A deliberate failure, which the model reads."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def problem_in_words(problem: BaseException | None) -> str | None:
    """What is wrong and what to do about it, in one line; None for a mistake of ours."""
    match problem:
        case milepost.MilepostError(message=message, advice=advice):
            return one_paragraph(f"{message}: {advice}" if advice else message)[:LONGEST_PROBLEM]
        case ValidationError():
            return _refused_arguments(problem)
        case OSError():
            return one_paragraph(f"the machine refuses: {problem.strerror or problem}")[:LONGEST_PROBLEM]
        case _:
            return None


def _refused_arguments(problem: ValidationError) -> str:
    errors = problem.errors(include_input=False, include_url=False, include_context=False)
    said = [f"{'.'.join(map(str, error['loc']))[:80]}: {_lower(error['msg'])}" for error in errors[:MOST_PROBLEMS]]
    more = f" (and {len(errors) - MOST_PROBLEMS} more)" if len(errors) > MOST_PROBLEMS else ""
    return one_paragraph(f"arguments refused: {'; '.join(said)}{more}")[:LONGEST_PROBLEM]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def slim(schema: Any, without: tuple[str, ...] = ("title",)) -> Any:
    """A schema without what only costs tokens: titles, and that what may be left out may also be null."""
    if isinstance(schema, list):
        return [slim(one, without) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: _slim_part(name, value, without) for name, value in schema.items() if name not in without}
    others = [one for one in kept.get("anyOf", ()) if one != {"type": "null"}]
    if len(others) == 1:
        kept.pop("anyOf")
        kept = others[0] | {name: value for name, value in kept.items() if (name, value) != ("default", None)}
    return kept


def _slim_part(name: str, value: Any, without: tuple[str, ...]) -> Any:
    if name in ("properties", "$defs") and isinstance(value, dict):  # whose keys are names of the author's
        return {key: slim(part, without) for key, part in value.items()}
    return value if name in ("default", "enum", "const", "required") else slim(value, without)
