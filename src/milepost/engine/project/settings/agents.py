"""The sections about agents: [agents], [mcp], [patterns], [router]."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from milepost.engine.project.network_setting import NetworkSetting
from milepost.engine.project.settings.reach import AGENT_NAMES, SAFE, Asks, one_of
from milepost.engine.project.settings.section import Address, SettingsSection
from milepost.plan.advice.traits import Trait


class AgentSection(SettingsSection):
    env: Annotated[dict[str, str], Asks("gives the agent these environment variables")] = Field(
        {}, description="Environment variables for this agent only."
    )
    env_from: Annotated[list[str], Asks("gives the agent these variables of your environment")] = Field(
        [], description="Names of variables to pass through from your own environment."
    )
    args: Annotated[list[str], Asks("starts the agent with these arguments")] = Field(
        [], description="Arguments to add to its command line."
    )
    program: Annotated[str, Asks("starts this program as the agent")] = Field(
        "", description="The program to start. Empty: the one with its name on PATH."
    )
    model: Annotated[str, SAFE] = Field(
        "", description="The model it uses, by the agent's own name for it. Empty: the agent's default."
    )
    base_url: Annotated[Address, Asks("sends your key and your code to this address")] = Field(
        "", description="Address of the API it calls. Empty: the agent's default."
    )
    max_turns: Annotated[int | None, SAFE] = Field(
        None, ge=1, description="How often it may call its model. Absent: 100; 50 for code."
    )
    max_usd: Annotated[float | None, SAFE] = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Cost limit of one attempt in USD. Absent: as in [budget].",
    )
    clean: Annotated[bool, SAFE] = Field(
        False,
        description="Whether claude, codex, tool and code work without what you and the repository set them up with: "
        "CLAUDE.md, AGENTS.md, settings, skills, hooks, servers of tools. Others then get nothing of yours.",
    )
    servers: Annotated[list[str], Asks("gives the agent these of your MCP servers, with their keys")] = Field(
        [],
        description="Names of your own MCP servers that have a key or an address, for claude; the others are given "
        "anyway. Their hosts are reached if network names them.",
    )
    network: Annotated[
        NetworkSetting | None, Asks("lets the agent reach this network", unless=one_of("none", "loopback", []))
    ] = Field(
        None,
        description="Network access of the agent and its commands. Absent: only its own API for a program such as "
        "claude, else as in [sandbox].",
    )


class McpSection(SettingsSection):
    command: Annotated[list[str], Asks("starts this program for the agents' tools")] = Field(
        [], description="The program to start, and its arguments. Empty: url is set."
    )
    url: Annotated[str, Asks("connects the agents to this address")] = Field(
        "", description="The address of the server (streamable HTTP). Empty: command is set."
    )
    env: Annotated[dict[str, str], Asks("gives the program these environment variables")] = Field(
        {}, description="Environment variables for this program only."
    )
    env_from: Annotated[list[str], Asks("gives the program these variables of your environment")] = Field(
        [], description="Names of variables to pass through from your own environment."
    )
    bearer_from: Annotated[str, Asks("sends this variable of your environment to the address")] = Field(
        "", description="Name of your environment variable with the bearer token for the url."
    )
    tools: Annotated[list[str] | None, SAFE] = Field(None, description="The tools to offer. Absent: all. Empty: none.")
    readable: Annotated[list[str], Asks("lets the program read these paths")] = Field(
        [], description="Additional paths the program may read."
    )
    start_s: Annotated[float, SAFE] = Field(60, gt=0, description="Seconds to start and list its tools.")
    timeout_s: Annotated[float, SAFE] = Field(60, gt=0, description="Seconds for one call.")


class PatternSettings(SettingsSection):
    folders: Annotated[list[str], Asks("takes patterns from these folders")] = Field(
        [],
        description="Folders with your own patterns, in addition to .milepost/patterns. Relative to the roadmap's "
        "folder.",
    )


class RouterSettings(SettingsSection):
    mode: Annotated[Literal["fixed", "round-robin", "measured"], SAFE] = Field(
        "measured",
        description="How the agent `auto` chooses. fixed: the first of agents. round-robin: each in turn. measured: "
        "the agent that completed most tasks of this kind here, the cheapest if equal; new agents are tried first.",
    )
    agents: Annotated[list[str], AGENT_NAMES] = Field(
        [],
        description="The agents `auto` chooses from, in this order; agents that cannot work here are skipped. Empty: "
        "`auto` cannot be used.",
    )
    fixed: Annotated[dict[Trait, str], AGENT_NAMES] = Field(
        {},
        description="Agents for certain tasks, whatever the mode: by `risky`, else by kind (code, tests, docs, "
        "config, fix, refactor, dependency), else by size (`small`, `large`).",
    )
    explore: Annotated[float, SAFE] = Field(
        0.1,
        ge=0,
        le=1,
        description="Share of tasks that mode measured gives to the agent with the fewest tasks of this kind, so that "
        "it is measured too; never risky tasks. 0: none.",
    )
