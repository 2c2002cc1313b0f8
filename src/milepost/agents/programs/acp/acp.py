"""Agent programs that speak the Agent Client Protocol: how they are started behind our client, and how that is read.

The protocol is a conversation, and a command in the sandbox has but one input: so the client's side of it goes into the
sandbox with the program, and what comes out are lines of our own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from milepost.agents.programs.acp.agents import AcpAgent, service_of
from milepost.agents.programs.acp.failures import confession_in
from milepost.agents.programs.acp.names import acp_agent
from milepost.agents.programs.driver import (
    Capabilities,
    Counted,
    Invocation,
    Job,
    Note,
    ProgramEnded,
    ProgramSetup,
    Reader,
    SessionNamed,
    Spoke,
    Stepped,
    Troubled,
    Used,
)
from milepost.agents.programs.lines import JsonLines, amount, count, words
from milepost.agents.programs.service_errors import trouble_of
from milepost.core.calls import Usage
from milepost.core.commands import Line

CLIENT = ("client.py", "lines.py", "peer.py", "workspace.py")
FOLDER = ".milepost-acp"
_PACKAGE = __package__.replace(".", "/")
_START = f"import sys; sys.path.insert(0, sys.argv[1]); from {__package__}.client import main; sys.exit(main())"
_HEAD_OF_DIFF = "+++ "
_STOPPED = {
    "max_tokens": "its model's answer was cut off at the length limit",
    "max_turn_requests": "it reached its own limit of turns",
    "refusal": "its model refused to do it",
    "cancelled": "it was cancelled",
}


def acp_driver(name: str, setup: ProgramSetup) -> AcpDriver:
    """The driver for `acp:NAME` with these settings; AgentUnknown or SettingInvalid when there can be none."""
    return AcpDriver(agent=acp_agent(name, setup), setup=setup)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpDriver:
    """Drives one program; whom it asks, and so what its key is called, depends on the settings."""

    agent: AcpAgent
    setup: ProgramSetup = field(default_factory=ProgramSetup)

    @property
    def name(self) -> str:
        return f"acp:{self.agent.name}"

    @property
    def program(self) -> str:
        return self.agent.program

    def capabilities(self) -> Capabilities:
        service = service_of(self.agent, self.setup)
        return Capabilities(
            hosts=() if service is None else (service.host,),
            keys=() if service is None else (service.key,),
            ends_itself=True,
            sessions=True,
            turn_limit=True,
            usd_limit=False,
            counts_tokens=self.agent.counts_tokens,
            counts_usd=False,
            provider="" if service is None else service.provider,
            at_home=self.agent.at_home,
            in_project=self.agent.in_project,
        )

    def version_argv(self, program: str) -> tuple[str, ...]:
        return (program, "--version")

    def invocation(self, program: str, job: Job, setup: ProgramSetup) -> Invocation:
        given = self.agent.given(setup, job.home)
        own = () if self.agent.takes_args else setup.args
        order = {
            "argv": [program, *self.agent.words, *given.words, *own],
            "cwd": str(job.folder),
            "prompt": job.prompt,
            "session": job.session,
            "model": setup.model if given.asks_for_model else "",
            "most_steps": setup.max_turns,
            "serves_files": self.agent.serves_files,
        }
        return Invocation(
            argv=(python(), "-I", "-S", "-B", "-c", _START, str(job.home / FOLDER)),
            env={name: value for name, value in given.env.items() if self._may_set(name, setup)},
            stdin=json.dumps(order),
            files={**_client(), **given.files},
        )

    def reader(self) -> Reader:
        return AcpReader(counts_tokens=self.agent.counts_tokens, tells_tools=not self.agent.takes_args)

    def _may_set(self, name: str, setup: ProgramSetup) -> bool:
        """Whether a variable is ours to set: the settings go before the table, but not before what they fill in."""
        return self.agent.takes_args or name not in setup.env


class AcpReader:
    """Reads what our client tells of a program.

    One that `counts_tokens` tells what each whole answer took, one that `tells_tools` every tool that it uses: what
    they do not tell of did not happen.
    """

    def __init__(self, *, counts_tokens: bool = False, tells_tools: bool = False) -> None:
        self._counts_tokens = counts_tokens
        self._tells_tools = tells_tools
        self._gave_diff = False
        self._lines = JsonLines()
        self._used = Usage()
        self._cost_known = False

    def read(self, line: Line) -> tuple[Note, ...]:
        told = self._lines.read(line.text) if line.stream == "stdout" else None
        return tuple(self._notes(told)) if isinstance(told, Mapping) else ()

    def _notes(self, told: Mapping[str, Any]) -> Iterator[Note]:
        match told.get("acp"):
            case "session" if told.get("resumable") is True:
                yield SessionNamed(words(told.get("id")))
            case "said":
                text = words(told.get("text"))
                self._gave_diff = self._gave_diff or _HEAD_OF_DIFF in text
                yield Spoke(text)
            case "step":
                yield Stepped(words(told.get("what")))
            case "denied":
                yield Troubled("denied", words(told.get("what")))
            case "used":
                yield self._taken(told)
            case "ended":
                yield from self._end(told)

    def _taken(self, told: Mapping[str, Any]) -> Used:
        """Tokens and money are told apart from each other: what one line does not say, an earlier one did."""
        self._cost_known = self._cost_known or "usd" in told
        self._used = Usage(
            input_tokens=count(told.get("input")) or self._used.input_tokens,
            output_tokens=count(told.get("output")) or self._used.output_tokens,
            cached_tokens=count(told.get("cached")) or self._used.cached_tokens,
            cost_usd=amount(told.get("usd")) or self._used.cost_usd,
        )
        whole: frozenset[Counted] = frozenset({"usd"}) if self._cost_known else frozenset()
        return Used(self._used, cost_known=self._cost_known, cumulative=whole)

    def _end(self, told: Mapping[str, Any]) -> Iterator[Note]:
        """The end, and the trouble it came by. The protocol's word that a turn ended is no word that it went well."""
        reason, error, last = words(told.get("reason")), words(told.get("error")), words(told.get("last"))
        steps = count(told.get("steps"))
        if reason != "end_turn":
            what = error or _STOPPED.get(reason, f"it stopped for an unknown reason: {reason!r}")
            if reason == "error":
                yield trouble_of(what)
            yield ProgramEnded(fine=False, what=what)
        elif confession := confession_in(last):
            yield trouble_of(confession)
            yield ProgramEnded(fine=False, what=confession)
        elif not steps and self._counts_tokens and not self._used.tokens:
            yield Troubled("silent", "its model gave no complete answer")
            yield ProgramEnded(fine=False, what="its model gave no complete answer")
        elif unfinished := count(told.get("unfinished")):
            yield ProgramEnded(fine=False, what=f"it stopped in the middle of {unfinished} tool calls")
        elif not steps and not last:
            yield ProgramEnded(fine=False, what="it did nothing and said nothing")
        elif not steps and self._tells_tools and not self._gave_diff:
            yield ProgramEnded(fine=False, what="it used no tool and gave no diff, so it changed nothing")
        else:
            yield ProgramEnded(fine=True)


def python() -> str:
    """The interpreter that the client runs with: our own without its environment, which the sandbox need not see."""
    return str(Path(sys.executable).resolve())


def _client() -> dict[str, str]:
    """The client's modules as files below the program's home, under the names that they have here."""
    package = files(__package__)
    return {f"{FOLDER}/{_PACKAGE}/{name}": package.joinpath(name).read_text(encoding="utf-8") for name in CLIENT}
