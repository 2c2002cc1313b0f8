"""The programs that `acp:NAME` means: those that are known, and any other that the settings say how to start."""

from __future__ import annotations

from pathlib import Path

from milepost.agents.programs.acp.agents import AcpAgent, ProgramInputs
from milepost.agents.programs.acp.known import KNOWN
from milepost.agents.programs.driver import ProgramSetup
from milepost.core.errors import AgentUnknown, SettingInvalid

DRIVEN_DIRECTLY = ("claude", "codex")


def known_programs() -> tuple[AcpAgent, ...]:
    """The programs of the table, in the order of their names."""
    return tuple(KNOWN[name] for name in sorted(KNOWN))


def acp_agent(name: str, setup: ProgramSetup) -> AcpAgent:
    """The program that `acp:NAME` means; what the settings lack for it, or it cannot be given, is raised."""
    if name in DRIVEN_DIRECTLY:
        raise AgentUnknown(f"there is no agent {f'acp:{name}'!r}: use {name!r}, which drives the program directly")
    known = KNOWN.get(name)
    if known is None and not (name and setup.program):
        names = ", ".join(f"acp:{one.name}" for one in known_programs())
        raise AgentUnknown(
            f"there is no agent {f'acp:{name}'!r}",
            f'name one of {names}, or say program = "…" under [agents."acp:{name or "NAME"}"] in milepost.toml',
        )
    agent = known or AcpAgent(name=name, program=setup.program, words=(), services={}, given=_other, takes_args=True)
    if agent.needs_model and not setup.model:
        raise SettingInvalid(
            f"the agent {f'acp:{name}'!r} has no model", f'write model = "…" under [agents."acp:{name}"]'
        )
    agent.given(setup, Path())
    return agent


def _other(setup: ProgramSetup, home: Path) -> ProgramInputs:
    """`{model}` and `{base_url}` in the settings' own words and variables; a model may also be asked for later."""
    everywhere = (*setup.args, *setup.env.values())
    if setup.base_url and not any("{base_url}" in text for text in everywhere):
        raise SettingInvalid(
            f"no setting passes the address {setup.base_url!r} to the program {setup.program!r}",
            "write {base_url} where it belongs in args or env",
        )

    def filled(text: str) -> str:
        return text.replace("{model}", setup.model).replace("{base_url}", setup.base_url)

    return ProgramInputs(
        words=tuple(map(filled, setup.args)),
        env={name: filled(value) for name, value in setup.env.items() if filled(value) != value},
        asks_for_model=bool(setup.model) and not any("{model}" in text for text in everywhere),
    )
