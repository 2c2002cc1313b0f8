"""What the caller of a run asks for: as a value, as keywords of the library, as words of the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from milepost.core.events import Event
from milepost.core.ports import Agent

VALUED = (
    *("agent", "parallel", "trust", "network", "max_tasks", "approve", "order", "group", "dialect", "memory"),
    *("verify_mode", "adaptive_mode"),
)


class RunOptions(TypedDict, total=False):
    """What may be asked of a run beside its roadmap and its agent, as `milepost.run` describes it."""

    tasks: tuple[str, ...]
    max_tasks: int | None
    new: bool
    parallel: int | None
    trust: str | None
    network: str | None
    budget_usd: float | None
    approve: str | None
    ordered: bool | None
    order: str | None
    group: str | None
    dialect: str | None
    memory: str | None
    verify_mode: str | None
    adaptive_mode: str | None
    held: bool
    met: tuple[str, ...]
    database: str | None
    remote: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """All that is asked of a run; None leaves it to the settings."""

    roadmap: Path | None = None
    agent: str | None = None
    tasks: tuple[str, ...] = ()
    max_tasks: int | None = None
    new: bool = False
    parallel: int | None = None
    trust: str | None = None
    network: str | None = None
    budget_usd: float | None = None
    approve: str | None = None
    ordered: bool | None = None
    order: str | None = None
    group: str | None = None
    dialect: str | None = None
    memory: str | None = None
    verify_mode: str | None = None
    adaptive_mode: str | None = None
    held: bool = False
    met: tuple[str, ...] = ()
    database: str | None = field(default=None, repr=False)
    remote: str | None = field(default=None, repr=False)


def command_of(wish: RunRequest) -> tuple[str, ...]:
    """The command that does it, told in JSON; without a server's address, which others could read there."""
    valued = [(f"--{name.replace('_', '-')}", getattr(wish, name)) for name in VALUED]
    valued.append(("--budget", None if wish.budget_usd is None else f"{wish.budget_usd:.6f}"))
    valued += [("--task", task) for task in wish.tasks] + [("--met", task) for task in wish.met]
    flags = {"--new": wish.new, "--ordered": wish.ordered, "--held": wish.held}
    given = (word for option, value in valued if value is not None for word in (option, str(value)))
    roadmap = () if wish.roadmap is None else (str(wish.roadmap),)
    return ("run", *roadmap, "--json", *given, *(flag for flag, is_given in flags.items() if is_given))


OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whom a run has to do with: who listens, whose agents do the work, and whether people are waited for.

    `outside_agents` are the only agents with paths outside the repository in their names, where a run came from another
    machine; None where its names were agreed to on this one.
    """

    on_event: OnEvent
    agents: Mapping[str, Agent] = field(default_factory=dict)
    stays: bool = False
    outside_agents: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingToDo:
    """There was nothing to run or to resume, and why; `held` are tasks that wait for a person."""

    reason: str
    held: tuple[str, ...] = ()
