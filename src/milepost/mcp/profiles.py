"""The profiles: which tools, resources and prompts a server offers. Users pay for every word of the list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from milepost.mcp.project_folder import ServerProject
from milepost.mcp.prompts import add_prompts
from milepost.mcp.resources import add_resources
from milepost.mcp.server import new_server
from milepost.mcp.tool import READS, REMOVES, WRITES, strict_tool
from milepost.mcp.tools.execute import execute_tools
from milepost.mcp.tools.gates import answer_tools
from milepost.mcp.tools.health import health_tools
from milepost.mcp.tools.memory import memory_tools, query_tools
from milepost.mcp.tools.plan import planning_tools
from milepost.mcp.tools.proof import proof_tools
from milepost.mcp.tools.releases import release_tools
from milepost.mcp.tools.runs import run_tools

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

Profile = Literal["core", "full"]

INSTRUCTIONS = (
    "Milepost turns the project's ROADMAP.md into verified commits: run_start returns a run id at once, then "
    "run_status with wait_s=50 until state is finished. Ask query_memory before you work on a task yourself."
)
WRITING = frozenset({"run_start", "answer", "execute_agent_code", "episode_start", "episode_log", "episode_complete"})
REMOVING = frozenset({"run_cancel", "lessons", "deploy", "rollback"})


def build(
    profile: Profile, workspace: Path, *, folders: tuple[Path, ...] = (), allow_answers: bool = False
) -> MCPServer[dict[str, Any]]:
    """A server with all that a profile offers, for the project of a folder and those in `folders`."""
    place = ServerProject(folder=workspace, further=folders)
    server = new_server(instructions=INSTRUCTIONS, tools=tools_of(profile, place, allow_answers=allow_answers))
    add_resources(server, place)
    add_prompts(server, place)
    return server


def tools_of(profile: Profile, place: ServerProject, *, allow_answers: bool = False) -> list[Tool]:
    """The tools of a profile, in the order in which they are listed."""
    core = (
        *query_tools(place),
        *planning_tools(place),
        *run_tools(place),
        *answer_tools(place, allow_answers=allow_answers),
        *proof_tools(place),
        *execute_tools(place),
    )
    more = (*memory_tools(place), *health_tools(place), *release_tools(place)) if profile == "full" else ()
    return [strict_tool(fn, annotations=_annotations(fn)) for fn in (*core, *more)]


def _annotations(fn: Callable[..., Any]) -> ToolAnnotations:
    name = fn.__name__
    return REMOVES if name in REMOVING else WRITES if name in WRITING else READS
