"""An attempt by a real agent program with the model of a scripted server, behind the real sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from milepost.agents.code_agent.agent import LIMITS, CodeAgent
from milepost.agents.models.live import ModelSetup, live_model
from milepost.agents.models.model import Model
from milepost.agents.programs.agent import ProgramAgent
from milepost.agents.programs.driver import Driver, ProgramSetup
from milepost.agents.tool_agent.agent import MAX_STEPS, ToolAgent
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.ports import Agent, Logbook, Stops, Terminal, Tools, Unrecorded, Unstopped
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.levels import open_executor
from tests.fakes.model_server import ModelServer

PATIENCE_S = 5.0
KEY = "the-only-key-it-is-given"
# aider asks once, takes no tools and runs no commands by itself; what it can be asked for is less.
AT_ONCE = ("aider",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """How a program is set up to ask the scripted server."""

    driver: Callable[[ProgramSetup], Driver]
    model: str
    key: str
    address: Callable[[ModelServer], str]


def _claude(_: ProgramSetup) -> Driver:
    from milepost.agents.programs.claude import Claude

    return Claude()


def _codex(_: ProgramSetup) -> Driver:
    from milepost.agents.programs.codex import Codex

    return Codex()


def _aider(_: ProgramSetup) -> Driver:
    from milepost.agents.programs.aider import Aider

    return Aider()


def _goose(setup: ProgramSetup) -> Driver:
    from milepost.agents.programs.acp.acp import acp_driver

    return acp_driver("goose", setup)


def _root(server: ModelServer) -> str:
    return server.url


def _version_1(server: ModelServer) -> str:
    return server.base_url


KNOWN: Mapping[str, Known] = {
    "claude": Known(driver=_claude, model="claude-sonnet-4-5", key="ANTHROPIC_API_KEY", address=_root),
    "codex": Known(driver=_codex, model="gpt-5.5", key="OPENAI_API_KEY", address=_version_1),
    "goose": Known(driver=_goose, model="openai/gpt-4.1", key="OPENAI_API_KEY", address=_version_1),
    "aider": Known(driver=_aider, model="openai/gpt-4o", key="OPENAI_API_KEY", address=_version_1),
}


def _model(server: ModelServer) -> Model:
    setup = ModelSetup(name="openai:scripted-1", base_url=server.base_url, patience_s=PATIENCE_S, timeout_s=3.0)
    return live_model(setup, {"OPENAI_API_KEY": KEY})


def _interpreter(folder: Path, limits: ExecutionLimits) -> WalledExecutor:
    return open_executor(TrustLevel.ISOLATED, limits, workspace=folder, direct=True)


@dataclass
class Stage:
    """A workspace with one file in it, beside a folder that no agent may change, and the program to work there."""

    name: str
    program: Path | None
    folder: Path
    said: list[str] = field(default_factory=list)
    logbook: Logbook = field(default_factory=Unrecorded)
    stops: Stops = field(default_factory=Unstopped)

    def __post_init__(self) -> None:
        self.workspace = Workspace(
            folder=self.folder / "workspace",
            scratch=self.folder / "scratch",
            base="0" * 40,
            kept=self.folder / "kept",
        )
        for folder in (self.workspace.folder, self.outside, self.users_home):
            folder.mkdir(parents=True)
        (self.workspace.folder / "existing.py").write_text("old = 1\n")
        (self.outside / "secret.txt").write_text("secret\n")

    @property
    def outside(self) -> Path:
        return self.folder / "outside"

    @property
    def users_home(self) -> Path:
        return self.folder / "users-home"

    @contextmanager
    def model(self, *answers: Mapping[str, Any], faults: Sequence[Mapping[str, Any]] = ()) -> Iterator[ModelServer]:
        """The server of a model that gives these answers."""
        script = {"tasks": {"1.1": [list(answers)]}, "faults": [dict(fault) for fault in faults]}
        with ModelServer(script, self.folder / "log", folder=self.workspace.folder) as server:
            yield server

    def agent(self, server: ModelServer, *, max_turns: int | None = None) -> Agent:
        """The agent of this name: one that Milepost brings, or a program."""
        if self.name == "tool":
            return ToolAgent(_model(server), max_steps=max_turns or MAX_STEPS, patience_s=PATIENCE_S)
        if self.name == "code":
            limits = replace(LIMITS, steps=max_turns or LIMITS.steps)
            return CodeAgent(_model(server), limits=limits, patience_s=PATIENCE_S)
        return self.program_agent(server, max_turns=max_turns)

    def program_agent(self, server: ModelServer, *, max_turns: int | None = None, clean: bool = False) -> ProgramAgent:
        known = KNOWN[self.name]
        setup = ProgramSetup(
            program=str(self.program),
            model=known.model,
            base_url=known.address(server),
            env={known.key: KEY},
            max_turns=max_turns,
            clean=clean,
        )
        return ProgramAgent(known.driver(setup), setup, users_home=self.users_home)

    def act(
        self,
        agent: Agent,
        terminal: Terminal,
        *,
        evidence: tuple[str, ...] = (),
        timeout_s: float = 90,
        idle_timeout_s: float | None = None,
        usd_left: float | None = None,
    ) -> Outcome:
        tools = Tools(
            terminal=terminal,
            say=self.said.append,
            timeout_s=timeout_s,
            idle_timeout_s=idle_timeout_s,
            usd_left=usd_left,
            logbook=self.logbook,
            stops=self.stops,
            open_interpreter=_interpreter,
        )
        return agent.act(self.assignment(evidence), self.workspace, tools)

    def assignment(self, evidence: tuple[str, ...] = ()) -> Assignment:
        return Assignment(
            run="7f3a",
            task="1.1",
            title="Write created.py",
            text="",
            attempt=1,
            files=("created.py", "existing.py"),
            evidence=evidence,
        )

    def files(self) -> dict[str, str]:
        """What is in the workspace."""
        names = (path for path in self.workspace.folder.iterdir() if path.is_file())
        return {path.name: path.read_text() for path in names}

    def keeps(self, word: str) -> bool:
        """Whether the program has written a word to what is kept of its session, which it does in its own time."""
        assert self.workspace.kept is not None
        for record in self.workspace.kept.rglob("*"):
            if record.suffix in (".jsonl", ".db", ".db-wal"):
                with suppress(FileNotFoundError):
                    if word.encode() in record.read_bytes():
                        return True
        return False

    def left_running(self) -> list[str]:
        """The processes that have anything of this stage in their words or their variables."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            except OSError:
                continue
            if os.fsencode(self.folder) in told and process.name != str(os.getpid()):
                found.append(told.replace(b"\0", b" ").decode(errors="replace")[:200])
        return found
