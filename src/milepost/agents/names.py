"""The names of agents, and the agents they name."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from milepost.agents.code_agent.agent import LIMITS, CodeAgent
from milepost.agents.command import CommandAgent
from milepost.agents.models.live import ModelSetup, live_model
from milepost.agents.models.model import Model
from milepost.agents.patterns.agent import PatternAgent
from milepost.agents.patterns.registry import PatternSetup, pattern_named
from milepost.agents.programs.driver import ProgramSetup
from milepost.agents.programs.registry import is_program, program_named
from milepost.agents.replay.replay import ReplayAgent, load_cassette
from milepost.agents.tool_agent.agent import MAX_STEPS, ToolAgent
from milepost.agents.tool_agent.mcp.server import McpServer
from milepost.agents.tool_agent.mcp.servers import require_library
from milepost.core.errors import AgentUnknown, SettingInvalid
from milepost.core.ports import Agent

OURS = ("tool", "code")
AVAILABLE = (*OURS, "claude", "codex", "aider", "acp:NAME", "command:ARGV", "pattern:NAME", "replay:FILE")

_MODEL_ADVICE = 'name the model under [model] in milepost.toml: name = "provider:model"'
_ADVICE = f"name one of {', '.join(AVAILABLE)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSetup:
    """What the settings say about an agent.

    `program` is all that a program is started with; the other agents take of it what they need. `model` is whom our own
    agents ask, `servers` give them tools.
    """

    program: ProgramSetup = field(default_factory=ProgramSetup)
    model: ModelSetup = field(default_factory=ModelSetup)
    servers: tuple[McpServer, ...] = ()
    patterns: PatternSetup = field(default_factory=PatternSetup)


def agent_named(name: str, *, folder: Path, setup: AgentSetup | None = None) -> Agent:
    """The agent that `name` means; relative paths in it start from `folder`, the roadmap's.

    Whatever can be known to be wrong without running the agent is raised here.
    """
    setup = setup or AgentSetup()
    name = name.strip()
    kind, _, rest = name.partition(":")
    rest = rest.strip()
    if is_program(name):
        agent = program_named(name, setup.program)
        agent.require()
        if not agent.price_known:
            _refuse_bound(name, setup.program, "name a model whose price is known in that section")
        return agent
    match kind:
        case "tool" | "code" if not rest:
            _refuse_unusable(kind, setup.program)
            model = live_model(setup.model, setup.program.env)
            if not model.price_known:
                _refuse_bound(kind, setup.program, "state input_usd_per_mtok and output_usd_per_mtok under [model]")
            return _ours(kind, setup, model)
        case "tool" | "code":
            raise AgentUnknown(f"the agent {kind!r} takes nothing after its name, not {rest!r}", _MODEL_ADVICE)
        case "command" if rest:
            env = setup.program.env
            return CommandAgent(argv=(*_program_and_words(rest, folder, env), *setup.program.args), env=env)
        case "pattern" if rest:
            return PatternAgent(pattern_named(rest, folder, setup.patterns))
        case "replay" if rest:
            cassette = load_cassette(folder.absolute() / rest)
            return ReplayAgent(cassette, loops={kind: partial(_ours, kind, setup) for kind in OURS})
        case "command" | "pattern" | "replay":
            raise AgentUnknown(f"the agent {name!r} needs something after {kind + ':'!r}", _ADVICE)
        case "auto" if not rest:
            raise AgentUnknown(
                "no agent was chosen for 'auto': the run started without a router",
                "name the agents under [router] in milepost.toml, and start the run with --agent auto",
            )
        case _:
            raise AgentUnknown(f"there is no agent {name!r}", _ADVICE)


def _ours(kind: str, setup: AgentSetup, model: Model) -> Agent:
    """One of our own agents, with a live model or a recorded one."""
    turns, max_usd = setup.program.max_turns, setup.program.max_usd
    patience_s, window = setup.model.patience_s, setup.model.window_tokens
    if kind == "code":
        limits = replace(LIMITS, steps=turns or LIMITS.steps)
        return CodeAgent(model, limits=limits, max_usd=max_usd, patience_s=patience_s, window_tokens=window)
    for server in setup.servers:
        require_library(server)
    return ToolAgent(
        model,
        max_steps=turns or MAX_STEPS,
        max_usd=max_usd,
        patience_s=patience_s,
        window_tokens=window,
        servers=setup.servers,
    )


def _refuse_unusable(kind: str, program: ProgramSetup) -> None:
    """Raise when a section says what only a program could use."""
    if unusable := [name for name in ("program", "args", "base_url", "model") if getattr(program, name)]:
        raise SettingInvalid(
            f"[agents.{kind}] takes no {', '.join(unusable)}: this agent is not a program",
            "leave it out; the model and its address are under [model] in milepost.toml",
        )


def _refuse_bound(name: str, program: ProgramSetup, advice: str) -> None:
    """Raise when an agent whose price nobody knows has a bound in money."""
    if program.max_usd is not None:
        section = f'[agents."{name}"]' if ":" in name else f"[agents.{name}]"
        raise SettingInvalid(
            f"max_usd of {section} cannot be enforced: the price of its model is not known",
            f"{advice}, or leave out max_usd",
        )


def _program_and_words(text: str, folder: Path, env: Mapping[str, str]) -> tuple[str, ...]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise AgentUnknown(
            f"the command {text!r} cannot be split into words: {error}", "quote it as for a shell"
        ) from error
    if not words or not words[0] or "\0" in text:
        raise AgentUnknown(f"the command {text!r} names no program", "write command:PROGRAM ARGUMENTS")
    program, *rest = words
    if "/" in program:
        return (str(_program_file(folder.absolute() / program)), *rest)
    if shutil.which(program, path=env.get("PATH")) is None:
        raise AgentUnknown(f"the program {program!r} is not on PATH", "install it, or give its path: command:./program")
    return tuple(words)


def _program_file(path: Path) -> Path:
    if not path.is_file():
        raise AgentUnknown(f"there is no program {str(path)!r}", "relative paths start from the roadmap's folder")
    if not os.access(path, os.X_OK):
        raise AgentUnknown(f"{str(path)!r} may not be executed", f"chmod +x {shlex.quote(str(path))}")
    return path
