"""Agents by their names, set up as the settings say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from milepost.agents.models.live import ModelSetup, live_model
from milepost.agents.models.model import Model
from milepost.agents.names import AgentSetup, agent_named
from milepost.agents.outside_names import reaches_outside
from milepost.agents.programs.availability import Availability
from milepost.agents.programs.driver import ProgramSetup
from milepost.agents.programs.registry import is_program, program_named, program_names, program_to_look_at
from milepost.agents.tool_agent.mcp.server import McpServer
from milepost.core.errors import AgentUnknown, SandboxRefused
from milepost.core.ports import Agent
from milepost.core.task import Task
from milepost.engine.agents.patterns import pattern_setup
from milepost.engine.project.settings.agents import McpSection
from milepost.engine.project.settings.settings import Settings
from milepost.engine.terminals.isolation import hold_for


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFactory:
    """Gives agents by their names: those that were handed in, and those made from the settings.

    With `outside` no others may have paths outside the repository in their names.
    """

    settings: Settings
    folder: Path
    given: Mapping[str, Agent]
    outside: frozenset[str] | None = None

    def agent(self, name: str) -> Agent:
        if self.outside is not None and name not in self.outside and reaches_outside(name):
            raise AgentUnknown(
                f"the agent {name!r} names paths outside the repository, and this machine's settings do not name it",
                "name it in the milepost.toml of the worker's folder, if its runs may have that",
            )
        return self.given[name] if name in self.given else make_agent(name, self.settings, self.folder)

    def hosts(self, name: str) -> tuple[str, ...]:
        """Whom an agent must reach itself; nobody where the engine asks the model for it."""
        if name in self.given or not is_program(name):
            return ()
        return program_named(name, _program_setup(name, self.settings, self.folder)).hosts


def make_agent(name: str, settings: Settings, folder: Path) -> Agent:
    """An agent by its name, set up as its section of the settings says."""
    setup = AgentSetup(
        program=_program_setup(name, settings, folder),
        model=ModelSetup(**settings.model.model_dump()),
        servers=tuple(_server(server, section) for server, section in settings.mcp.items()),
        patterns=pattern_setup(tuple(settings.patterns.folders)),
    )
    if settings.sandbox.container and is_program(name) and settings.of_agent(name).network is None:
        raise SandboxRefused(
            f"a container cannot restrict the network to single hosts, which the agent {name!r} needs",
            f'set network = "open" under [agents."{name}"], or remove container from [sandbox]',
        )
    return agent_named(name, folder=folder, setup=setup)


def make_model(settings: Settings, folder: Path) -> Model:
    """The model of the settings, with its key found as for our own agent `tool`."""
    return live_model(ModelSetup(**settings.model.model_dump()), _program_setup("tool", settings, folder).env)


def standings_of(settings: Settings, folder: Path) -> tuple[Availability, ...]:
    """What is known of every agent program on this machine; those that are here are started once, in the sandbox."""
    agents = [program_to_look_at(name, _program_setup(name, settings, folder)) for name in program_names()]
    with hold_for(settings).open_terminal() as terminal:
        return tuple(agent.validate(terminal) for agent in agents)


def agent_name(task: Task, order_agent: str) -> str:
    """Who does a task: whom the task names, else whom the run names."""
    return task.agent or order_agent


def _program_setup(name: str, settings: Settings, folder: Path) -> ProgramSetup:
    section = settings.of_agent(name)
    named_by_path = "/" in section.program
    return ProgramSetup(
        program=str(folder.absolute() / Path(section.program).expanduser()) if named_by_path else section.program,
        model=section.model,
        base_url=section.base_url,
        env=_passed(section.env_from, f"agent {name!r}") | section.env,
        args=tuple(section.args),
        max_turns=section.max_turns,
        max_usd=section.max_usd,
        clean=section.clean,
        servers=tuple(section.servers),
        project=folder.absolute(),
    )


def _server(name: str, section: McpSection) -> McpServer:
    who = f"the MCP server {name!r}"
    token = _passed([section.bearer_from], who)[section.bearer_from] if section.bearer_from else ""
    return McpServer(
        name=name,
        command=tuple(section.command),
        url=section.url,
        env=_passed(section.env_from, who) | section.env,
        headers={"Authorization": f"Bearer {token}"} if token else {},
        tools=None if section.tools is None else tuple(section.tools),
        readable=tuple(map(Path, section.readable)),
        start_s=section.start_s,
        timeout_s=section.timeout_s,
    )


def _passed(names: list[str], who: str) -> dict[str, str]:
    if missing := [name for name in names if name not in os.environ]:
        raise AgentUnknown(
            f"{who} wants {', '.join(missing)} from your environment, but it is not set",
            "export it, then run again",
        )
    return {name: os.environ[name] for name in names}
