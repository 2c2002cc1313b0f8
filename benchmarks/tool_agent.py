"""What the tool agent costs, beside mini-swe-agent: the same scripted model, the same tasks, one run.

    python benchmarks/tool_agent.py [ROUNDS]

A figure is the median of what lies between an answer of the model and its next question: running what it asked for,
recording, making the prompt. Rounds of all kinds are interleaved. mini-swe-agent runs every step as a shell command,
without a sandbox. Ours does the steps with its own tools behind walls, as it does by itself; with the very same shell
commands behind walls; and with those without any, which nobody can ask for, to tell the loop from the walls.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tool_tasks import TASKS, Task, Watch, is_right, prepared

from milepost.agents.models.model import Answer, Conversation, Prompt, Results, ToolCall
from milepost.agents.tool_agent.agent import ToolAgent
from milepost.core.attempt import Assignment, Workspace
from milepost.core.calls import Usage
from milepost.core.commands import Command, CommandResult, Line, TrustLevel
from milepost.core.errors import MilepostError
from milepost.core.ports import Terminal, Tools
from milepost.sandbox.levels import open_terminal, require

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "pipelines"))
from others import NotThere, installed  # noqa: E402

ROUNDS = 10
CHARACTERS_PER_TOKEN = 4
GOAL = 1.0
MINI = "mini-swe-agent"

Way = Literal["own tools", "commands"]


@dataclass
class Figures:
    """What was measured of one agent."""

    between_ms: list[float] = field(default_factory=list)
    characters: list[int] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)

    def add(self, measured: dict[str, Any]) -> None:
        self.between_ms += measured["between_ms"]
        self.characters.append(measured["characters"])
        self.right.append(measured["right"])


class Scripted:
    """The model that does what its task says."""

    name = "scripted"
    price_known = True

    def __init__(self, task: Task, way: Way) -> None:
        own = [(step.tool, step.arguments) for step in task.steps]
        same = [("execute", {"argv": ["bash", "-c", step.command]}) for step in task.steps]
        self._calls = own if way == "own tools" else same
        self.watch = Watch()

    def most(self, conversation: Conversation) -> Usage:
        return Usage()

    def answer(self, conversation: Conversation) -> Answer:
        self.watch.asked(len(json.dumps(_sent(conversation), ensure_ascii=False)))
        step = conversation.answered
        if step == len(self._calls):
            answer = Answer(text="Done.")
        else:
            name, arguments = self._calls[step]
            answer = Answer(text="I go on.", calls=(ToolCall(id=str(step), name=name, arguments=arguments),))
        self.watch.answered()
        return answer


def _sent(conversation: Conversation) -> list[Any]:
    """A conversation as it goes to a service, in the form that mini-swe-agent keeps it in."""
    sent: list[Any] = []
    for message in conversation.messages:
        match message:
            case Prompt(text=text):
                sent.append({"role": "user", "content": text})
            case Answer(text=text, calls=calls):
                wanted = [
                    (call.id, {"name": call.name, "arguments": json.dumps(dict(call.arguments))}) for call in calls
                ]
                made = [{"id": one, "type": "function", "function": function} for one, function in wanted]
                sent.append({"role": "assistant", "content": text, "tool_calls": made})
            case Results(results=results):
                sent += [{"role": "tool", "tool_call_id": each.call, "content": each.text} for each in results]
    specs = [
        {"name": one.name, "description": one.description, "parameters": one.parameters} for one in conversation.tools
    ]
    return [sent, [{"type": "function", "function": spec} for spec in specs]]


class NoWalls:
    """Runs commands as a plain program does."""

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        done = subprocess.run(command.argv, cwd=command.cwd, capture_output=True, text=True, check=False)
        return CommandResult(
            termination="exited",
            exit_code=done.returncode,
            stdout=done.stdout,
            stderr=done.stderr,
            duration_ms=0,
            enforced=(),
        )


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {rounds} rounds, medians\n")
    try:
        python = installed(HERE / "requirements-tool-agent.txt")
    except NotThere as problem:
        sys.exit(f"{MINI}: {problem}")
    figures: dict[str, Figures] = {}
    with ExitStack() as stack:
        levels = [level for level in (TrustLevel.ISOLATED, TrustLevel.SANDBOXED) if _holds(level)]
        terminals = {level: stack.enter_context(open_terminal(level)) for level in levels}
        for number in range(rounds + 1):
            for name, measured in _round(terminals, python):
                if number:  # the first one only warms up
                    figures.setdefault(name, Figures()).add(measured)
    _print(figures)


def _round(terminals: dict[TrustLevel, Any], python: str) -> list[tuple[str, dict[str, Any]]]:
    ways: tuple[Way, ...] = ("own tools", "commands")
    ours = [
        (f"milepost, {level.value}, {way}", measured(task, way, terminal))
        for level, terminal in terminals.items()
        for way in ways
        for task in TASKS
    ]
    ours += [("milepost, no walls, commands", measured(task, "commands", NoWalls())) for task in TASKS]
    return [*ours, *((MINI, json.loads(line)) for line in _mini(python))]


def measured(task: Task, way: Way, terminal: Terminal) -> dict[str, Any]:
    """One task done by our agent."""
    model = Scripted(task, way)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        prepared(task, folder)
        assignment = Assignment(run="r", task="1", title=task.text, text="", attempt=1)
        workspace = Workspace(folder=folder, scratch=Path(place) / "scratch", base="0" * 40)
        tools = Tools(terminal=terminal, say=lambda _: None, timeout_s=600)
        outcome = ToolAgent(model).act(assignment, workspace, tools)
        right = outcome.status == "finished" and is_right(task, folder)
    return {"right": right, "between_ms": model.watch.between_ms, "characters": model.watch.characters}


def _mini(python: str) -> list[str]:
    with tempfile.TemporaryDirectory() as home:
        quiet = {"MSWEA_SILENT_STARTUP": "1", "MSWEA_GLOBAL_CONFIG_DIR": home, "HOME": home}
        argv = [python, str(HERE / "tool_agent_of_mini.py")]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, **quiet})
    if done.returncode:
        sys.exit(f"{MINI} failed: {done.stderr.strip().splitlines()[-1]}")
    return [line for line in done.stdout.splitlines() if line.startswith("{")]


def _print(figures: dict[str, Figures]) -> None:
    theirs = statistics.median(figures[MINI].between_ms)
    print(f"{'':34}{'step, ms':>10}{'ratio':>8}{'goal':>7}{'tokens':>9}{'right':>9}")
    for name, one in figures.items():
        step = statistics.median(one.between_ms)
        tokens = statistics.mean(one.characters) / CHARACTERS_PER_TOKEN
        goal = "" if name == MINI else "met" if step <= GOAL * theirs else "missed"
        print(f"{name:34}{step:10.2f}{step / theirs:8.2f}{goal:>7}{tokens:9.0f}{sum(one.right):6}/{len(one.right)}")


def _holds(level: TrustLevel) -> bool:
    try:
        require(level)
    except MilepostError as problem:
        print(f"{level.value} is left out: {problem}")
        return False
    return True


if __name__ == "__main__":
    main()
