"""Agents that are made on workers: from here only their names can be judged."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path

from milepost.agents.names import agent_named
from milepost.agents.programs.acp.names import DRIVEN_DIRECTLY
from milepost.agents.programs.registry import is_program
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.errors import AgentUnknown
from milepost.core.ports import Agent, Tools


def require_name(name: str) -> None:
    """Raise on a name that means no agent on any machine; what only a worker can know is not asked."""
    kind, _, rest = name.strip().partition(":")
    match kind, rest.strip():
        case ("tool" | "code", ""):
            return
        case ("acp", program) if program and program not in DRIVEN_DIRECTLY:
            return
        case (program, _) if program != "acp" and is_program(name.strip()):
            return
        case ("replay", cassette) if cassette:
            return
        case ("command", command) if _is_command(command):
            return
    agent_named(name, folder=Path())


def _is_command(text: str) -> bool:
    with suppress(ValueError):
        return "".join(shlex.split(text)[:1]) != "" and "\0" not in text
    return False


class AtWorkers(dict[str, Agent]):
    """Agents that workers have: whether they do is not known here, only whether the name can be one's."""

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, name: str) -> Agent:
        require_name(name)
        return _OnAWorker(name)


class _OnAWorker:
    """Stands for an agent that is made where it works."""

    def __init__(self, name: str) -> None:
        self._name = name

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        raise AgentUnknown(f"agent {self._name!r} runs on a worker", "start one: milepost worker")
