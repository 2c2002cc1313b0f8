"""What is known of a program that speaks the Agent Client Protocol: its words, whom it asks, what it must be given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from milepost.agents.programs.driver import ProgramSetup


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramInputs:
    """What a program is given with its command line: words on it, variables, files below its home."""

    words: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    asks_for_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Whom a program asks: its host, the variable that the key is in, the provider whose prices hold."""

    host: str
    key: str
    provider: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpAgent:
    """One program: `words` make it speak the protocol, `given` says the rest as the settings want it.

    `services` are those it can ask; the first is meant unless the model's name begins with another one's, as in
    `anthropic/claude-sonnet-4-5`. One that `takes_args` is given the settings' own words and variables by `given`.
    `serves_files` is false where the program cannot bear that one is not there. `at_home` and `in_project` are what it
    is told by its user and by a repository.
    """

    name: str
    program: str
    words: tuple[str, ...]
    services: Mapping[str, Service]
    given: Callable[[ProgramSetup, Path], ProgramInputs]
    needs_model: bool = False
    counts_tokens: bool = False
    takes_args: bool = False
    serves_files: bool = True
    at_home: tuple[str, ...] = ()
    in_project: tuple[str, ...] = ("AGENTS.md",)


def service_of(agent: AcpAgent, setup: ProgramSetup) -> Service | None:
    """Whom the program asks with these settings; None when only the settings could know."""
    return agent.services.get(service_and_model(agent.services, setup.model)[0])


def service_and_model(services: Mapping[str, Service], model: str) -> tuple[str, str]:
    """A model's name divided into the service that it begins with, if that is one, and the rest."""
    service, slash, rest = model.partition("/")
    if slash and service in services:
        return service, rest
    return next(iter(services), ""), model
