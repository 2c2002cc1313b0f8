"""The sections about agents: [agents], [mcp], [patterns], [router]."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from milepost.engine.project.network_setting import NetworkSetting
from milepost.engine.project.settings.section import Address, SettingsSection
from milepost.plan.advice.traits import Trait


class AgentSection(SettingsSection):
    env: dict[str, str] = Field({}, description="Environment variables for this agent only.")
    env_from: list[str] = Field([], description="Names of variables to pass through from your own environment.")
    args: list[str] = Field([], description="Arguments to add to its command line.")
    program: str = Field("", description="The program to start. Empty: the one with its name on PATH.")
    model: str = Field("", description="The model it uses, by the agent's own name for it. Empty: the agent's default.")
    base_url: Address = Field("", description="Address of the API it calls. Empty: the agent's default.")
    max_turns: int | None = Field(None, ge=1, description="How often it may call its model. Absent: 100; 50 for code.")
    max_usd: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Cost limit of one attempt in USD. Absent: as in [budget].",
    )
    network: NetworkSetting | None = Field(
        None,
        description="Network access of the agent and its commands. Absent: only its own API for a program such as "
        "claude, else as in [sandbox].",
    )


class McpSection(SettingsSection):
    command: list[str] = Field([], description="The program to start, and its arguments. Empty: url is set.")
    url: str = Field("", description="The address of the server (streamable HTTP). Empty: command is set.")
    env: dict[str, str] = Field({}, description="Environment variables for this program only.")
    env_from: list[str] = Field([], description="Names of variables to pass through from your own environment.")
    bearer_from: str = Field("", description="Name of your environment variable with the bearer token for the url.")
    tools: list[str] | None = Field(None, description="The tools to offer. Absent: all. Empty: none.")
    readable: list[str] = Field([], description="Additional paths the program may read.")
    start_s: float = Field(60, gt=0, description="Seconds to start and list its tools.")
    timeout_s: float = Field(60, gt=0, description="Seconds for one call.")


class PatternSettings(SettingsSection):
    folders: list[str] = Field(
        [],
        description="Folders with your own patterns, in addition to .milepost/patterns. Relative to the roadmap's "
        "folder.",
    )


class RouterSettings(SettingsSection):
    mode: Literal["fixed", "round-robin", "measured"] = Field(
        "measured",
        description="How the agent `auto` chooses. fixed: the first of agents. round-robin: each in turn. measured: "
        "the agent that completed most tasks of this kind here, the cheapest if equal; new agents are tried first.",
    )
    agents: list[str] = Field(
        [],
        description="The agents `auto` chooses from, in this order; agents that cannot work here are skipped. Empty: "
        "`auto` cannot be used.",
    )
    fixed: dict[Trait, str] = Field(
        {},
        description="Agents for certain tasks, whatever the mode: by `risky`, else by kind (code, tests, docs, "
        "config, fix, refactor, dependency), else by size (`small`, `large`).",
    )
    explore: float = Field(
        0.1,
        ge=0,
        le=1,
        description="Share of tasks that mode measured gives to the agent with the fewest tasks of this kind, so that "
        "it is measured too; never risky tasks. 0: none.",
    )
