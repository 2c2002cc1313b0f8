"""The tool agent: a model that works with the tools of the workspace.

Every question and every use of a tool goes through the attempt's logbook. After a crash the conversation is gone
through again from the start: what was answered before comes from there, and only what is missing is asked for. So
nothing in it may depend on anything but the assignment and what the logbook gives; the time that is used up is what the
calls took.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from milepost.agents.models.ask import PATIENCE_S, Asker
from milepost.agents.models.model import Model
from milepost.agents.prompt import prompt_for
from milepost.agents.prompts import filled
from milepost.agents.tool_agent.conversation import ConversationOver, Scene, Share, ToolConversation, questions
from milepost.agents.tool_agent.cost_bound import CostReached, Tally
from milepost.agents.tool_agent.mcp.connection import ServerFailed
from milepost.agents.tool_agent.mcp.server import McpServer
from milepost.agents.tool_agent.mcp.servers import Servers
from milepost.agents.tool_agent.subagent import Helpers
from milepost.agents.tool_agent.tools.long_results import LongResults
from milepost.core.attempt import Assignment, Outcome, OutcomeStatus, Workspace
from milepost.core.commands import enforced_by_all
from milepost.core.ports import Stops, Tools

MAX_STEPS = 100


class ToolAgent:
    """An agent that lets a model work with the tools of the workspace, and with those of `servers`.

    `max_steps` is how many answers an attempt has, `max_usd` what it may cost, those of helpers included. A server that
    does not answer is asked again for `patience_s`. `window_tokens` is how much the model can be told at once; None
    tells it everything.
    """

    def __init__(
        self,
        model: Model,
        *,
        max_steps: int = MAX_STEPS,
        max_usd: float | None = None,
        patience_s: float = PATIENCE_S,
        window_tokens: int | None = None,
        servers: tuple[McpServer, ...] = (),
        clock: Callable[[], float] = time.monotonic,
        stops: Stops | None = None,
    ) -> None:
        self._model = model
        self._max_steps = max_steps
        self.max_usd = max_usd
        self._patience_s = patience_s
        self._window_tokens = window_tokens
        self._servers = servers
        self._clock = clock
        self._stops = stops

    @property
    def price_known(self) -> bool:
        """Whether a bound in money can hold for this agent."""
        return self._model.price_known

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        tally = Tally(tools.logbook, agent="tool", max_usd=self.max_usd)
        tools = replace(tools, logbook=tally, stops=self._stops or tools.stops)
        if not self.price_known:
            tools.say(f"the price of {self._model.name} is not known: its answers are counted as $0")
        with Servers(self._servers, workspace, tools) as servers:
            try:
                servers.list_tools()
            except ServerFailed as failure:
                return Outcome(status="gave_up", said=tools.redact(str(failure)))
            scene = self._scene(assignment, workspace, tools, servers)
            helpers = Helpers(usd_left=lambda: tally.usd_left(tools.usd_left))
            share = Share(timeout_s=tools.timeout_s, longest_s=tools.timeout_s)
            talk = ToolConversation(scene, tool_prompt(assignment), share, hand_over=helpers.hand_over)
            return self._outcome(talk)

    def _scene(self, assignment: Assignment, workspace: Workspace, tools: Tools, servers: Servers) -> Scene:
        asker = Asker(
            self._model,
            patience_s=self._patience_s,
            clock=self._clock,
            stops=tools.stops,
            say=tools.say,
            logbook=tools.logbook,
            aloud=True,
        )
        return Scene(
            place=f"{assignment.run}/{assignment.task}/{assignment.attempt}",
            workspace=workspace,
            tools=tools,
            asker=asker,
            results=LongResults(workspace),
            servers=servers,
            window_tokens=self._window_tokens,
            questions=questions(),
            max_answers=self._max_steps,
        )

    def _outcome(self, talk: ToolConversation) -> Outcome:
        status: OutcomeStatus = "finished"
        try:
            said = talk.converse()
        except ConversationOver as end:
            status, said = end.status, end.said
        except CostReached as end:
            status, said = "gave_up", str(end)
        return Outcome(status=status, said=said, usage=talk.usage, enforced=enforced_by_all(talk.enforced))


def tool_prompt(assignment: Assignment) -> str:
    """All that the model is told at first."""
    return f"{prompt_for(assignment)}\n{filled('tool')}"
