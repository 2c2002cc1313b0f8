"""The names of agents, and the agents they name."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from milepost.agents.command import CommandAgent
from milepost.agents.live import ModelSetup, live_model
from milepost.agents.loop import ToolAgent
from milepost.agents.patterns.agent import PatternAgent
from milepost.agents.patterns.registry import pattern_named
from milepost.agents.replay import ReplayAgent, load_cassette
from milepost.core.errors import AgentUnknown
from milepost.core.ports import Agent

AVAILABLE = ("tool", "command:ARGV", "pattern:NAME", "replay:FILE")
UNAVAILABLE = frozenset({"code", "claude", "codex", "aider", "acp"})

_MODEL_ADVICE = 'name the model under [model] in milepost.toml: name = "provider:model"'
_ADVICE = f"name one of {', '.join(AVAILABLE)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSetup:
    """What the settings say about an agent: variables it sees, words added to its command line, the model it asks."""

    env: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    model: ModelSetup = field(default_factory=ModelSetup)


def agent_named(name: str, *, folder: Path, setup: AgentSetup | None = None) -> Agent:
    """The agent that `name` means; relative paths in it start from `folder`, the roadmap's.

    Whatever can be known to be wrong without running the agent is raised here.
    """
    setup = setup or AgentSetup()
    kind, _, rest = name.strip().partition(":")
    rest = rest.strip()
    if kind in UNAVAILABLE:
        raise AgentUnknown(f"the agent {name!r} is not available in this version", _ADVICE)
    match kind:
        case "tool" if not rest:
            return ToolAgent(live_model(setup.model, setup.env), patience_s=setup.model.patience_s)
        case "tool":
            raise AgentUnknown(f"the agent 'tool' takes nothing after it, not {rest!r}", _MODEL_ADVICE)
        case "command" if rest:
            return CommandAgent(argv=(*_program_and_words(rest, folder, setup.env), *setup.args), env=setup.env)
        case "pattern" if rest:
            return PatternAgent(pattern_named(rest))
        case "replay" if rest:
            return ReplayAgent(load_cassette(folder.absolute() / rest))
        case "command" | "pattern" | "replay":
            raise AgentUnknown(f"the agent {name!r} says nothing after {kind + ':'!r}", _ADVICE)
        case _:
            raise AgentUnknown(f"there is no agent {name!r}", _ADVICE)


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
