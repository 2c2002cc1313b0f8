"""What a client can put before its model: the assignment of a task, as an agent of Milepost would get it."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import Field

import milepost
from milepost import plans
from milepost.mcp.project_folder import ServerProject
from milepost.mcp.tool import problem_in_words
from milepost.serving.threads import aside


def add_prompts(server: MCPServer[Any], place: ServerProject) -> None:
    @server.prompt(
        name="task", description="The assignment of a task: what to do, how it is checked, what surrounds it"
    )
    async def task(
        task: Annotated[str, Field(max_length=200, description="Id of a task, as plan lists it")],
        workspace: Annotated[str, Field(max_length=4096, description="Project folder")] = "",
    ) -> str:
        try:
            return await aside(lambda: plans.assignment(task, place.roadmap(workspace)))
        except (milepost.MilepostError, OSError) as problem:
            raise MCPError(code=INVALID_PARAMS, message=problem_in_words(problem) or "refused") from None
