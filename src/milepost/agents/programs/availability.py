"""Whether an agent program can be used here: found, of what version, signed in, and able to start in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from milepost.agents.clip import last_lines
from milepost.agents.programs.driver import Capabilities
from milepost.core.commands import CommandResult, ending_in_words

SignedIn = Literal["key", "login", "no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """What is known of a program on this machine; a `problem` keeps it from being used, `advice` says what to do."""

    name: str
    program: str = ""
    version: str = ""
    signed_in: SignedIn = "no"
    problem: str = ""
    advice: str = ""

    @property
    def usable(self) -> bool:
        return not self.problem


def not_found(name: str, program: str) -> Availability:
    return Availability(
        name=name,
        problem=f"there is no program {program!r}" if "/" in program else f"the program {program!r} is not on PATH",
        advice=f'install it, or set its path: program = "…" under [agents."{name}"] in milepost.toml',
    )


def not_signed_in(name: str, program: str, capabilities: Capabilities) -> Availability:
    sign_in = f", or sign in with {program!r}" if capabilities.login else ""
    return Availability(
        name=name,
        program=program,
        problem=f"the program {program!r} is not signed in",
        advice=f"export {' or '.join(capabilities.keys)}{sign_in}",
    )


def standing_of(
    name: str, program: str, told: CommandResult, *, timeout_s: float, signed_in: SignedIn, capabilities: Capabilities
) -> Availability:
    """What a program's answer to the question for its version says about it."""
    found = Availability(name=name, program=program, version=_version(told), signed_in=signed_in)
    if not told.succeeded:
        ending = ending_in_words(told, program=program, timeout_s=timeout_s)
        complaint = last_lines(told.stderr or told.stdout, 3)
        problem = f"the program {program!r} does not start in the sandbox: {ending}\n{complaint}".rstrip()
        advice = f"start it yourself: {program} --version"
        return Availability(name=name, program=program, signed_in=signed_in, problem=problem, advice=advice)
    if signed_in == "no" and capabilities.keys:
        missing = not_signed_in(name, program, capabilities)
        return replace(found, problem=missing.problem, advice=missing.advice)
    return found


def _version(told: CommandResult) -> str:
    lines = [line.strip() for line in told.stdout.splitlines() if any(letter.isdigit() for letter in line)]
    return lines[-1] if told.succeeded and lines else ""
