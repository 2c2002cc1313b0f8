"""The agent programs there are, by the names that settings and roadmaps call them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from milepost.agents.programs.acp.acp import AcpDriver, acp_driver
from milepost.agents.programs.acp.names import known_programs
from milepost.agents.programs.agent import ProgramAgent
from milepost.agents.programs.aider import Aider
from milepost.agents.programs.claude import Claude
from milepost.agents.programs.codex import Codex
from milepost.agents.programs.driver import Driver, ProgramSetup

NATIVE = ("claude", "codex", "aider")


def program_names() -> tuple[str, ...]:
    """Every name of a program that needs no more settings than its key."""
    return (*NATIVE, *(f"acp:{program.name}" for program in known_programs()))


def is_program(name: str) -> bool:
    """Whether a name of an agent means a program that Milepost knows how to drive."""
    return name in NATIVE or name.partition(":")[0] == "acp"


def program_named(name: str, setup: ProgramSetup, environ: Mapping[str, str] = os.environ) -> ProgramAgent:
    """The agent of that name, with its own key from the environment where the settings give none."""
    return _with_key(_driver(name, setup), setup, environ)


def program_to_look_at(name: str, setup: ProgramSetup, environ: Mapping[str, str] = os.environ) -> ProgramAgent:
    """The same for one of `program_names`, also where its settings are not enough to work with."""
    known = {f"acp:{program.name}": program for program in known_programs()}
    driver = AcpDriver(agent=known[name], setup=setup) if name in known else _driver(name, setup)
    return _with_key(driver, setup, environ)


def _with_key(driver: Driver, setup: ProgramSetup, environ: Mapping[str, str]) -> ProgramAgent:
    keys = {key: environ[key] for key in driver.capabilities().keys if environ.get(key)}
    return ProgramAgent(driver, replace(setup, env={**keys, **setup.env}))


def _driver(name: str, setup: ProgramSetup) -> Driver:
    match name:
        case "claude":
            return Claude()
        case "codex":
            return Codex()
        case "aider":
            return Aider(setup.model)
        case _:
            return acp_driver(name.removeprefix("acp:").strip(), setup)
