"""What the code agent costs, beside smolagents' CodeAgent: the same scripted model, the same tasks, one run.

    python benchmarks/code_agent.py [ROUNDS]

A figure is the median of what lies between an answer of the model and its next question: running the code, recording,
making the prompt. Rounds of all kinds are interleaved. Ours runs the code behind walls and keeps the variables after
every step; smolagents interprets it in its own process, and as it comes prints a log.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from code_tasks import TASKS, Task, Watch

from milepost.agents.code_agent.agent import CodeAgent
from milepost.agents.models.model import Answer, Conversation, Prompt
from milepost.core.attempt import Assignment, Workspace
from milepost.core.calls import Usage
from milepost.core.commands import Command, CommandResult, Line, TrustLevel
from milepost.core.errors import MilepostError
from milepost.core.ports import Tools
from milepost.sandbox.levels import open_executor, require

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "pipelines"))
from others import NotThere, installed  # noqa: E402

ROUNDS = 10
CHARACTERS_PER_TOKEN = 4
GOAL = 1.0


@dataclass
class Figures:
    """What was measured of one agent."""

    between_ms: list[float] = field(default_factory=list)
    begin_ms: list[float] = field(default_factory=list)
    characters: list[int] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)

    def add(self, measured: dict[str, Any]) -> None:
        first, *later = measured["between_ms"]
        self.begin_ms.append(first)
        self.between_ms += later
        self.characters.append(measured["characters"])
        self.right.append(measured["right"])


class Scripted:
    """The model that writes what its task says."""

    name = "scripted"
    price_known = True

    def __init__(self, task: Task) -> None:
        self._steps = list(task.steps)
        self.watch = Watch()

    def most(self, conversation: Conversation) -> Usage:
        return Usage()

    def answer(self, conversation: Conversation) -> Answer:
        messages = conversation.messages
        self.watch.asked(sum(len(each.text) for each in messages if isinstance(each, Prompt | Answer)))
        answer = Answer(text=f"I go on.\n```python\n{self._steps.pop(0)}\n```")
        self.watch.answered()
        return answer


class NoTerminal:
    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        raise AssertionError("no task runs a command")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    levels = [level for level in (TrustLevel.ISOLATED, TrustLevel.SANDBOXED) if _holds(level)]
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {rounds} rounds, medians\n")
    try:
        python = installed(HERE / "requirements-code-agent.txt")
    except NotThere as problem:
        sys.exit(f"smolagents: {problem}")
    figures: dict[str, Figures] = {}
    for _ in range(rounds):
        for level in levels:
            for task in TASKS:
                figures.setdefault(f"milepost, {level.value}", Figures()).add(measured(task, level))
        for how in ("usual", "quiet"):
            for line in _smolagents(python, how):
                figures.setdefault(f"smolagents, {how}", Figures()).add(json.loads(line))
    _print(figures, [f"milepost, {level.value}" for level in levels])


def measured(task: Task, level: TrustLevel) -> dict[str, Any]:
    """One task done by our agent at a level."""
    model = Scripted(task)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        agent = CodeAgent(model)
        assignment = Assignment(run="r", task="1", title=task.text, text="", attempt=1)
        workspace = Workspace(folder=folder, scratch=Path(place) / "scratch", base="0" * 40)
        tools = Tools(
            terminal=NoTerminal(),
            say=lambda _: None,
            timeout_s=600,
            open_interpreter=lambda work, limits: open_executor(level, limits, workspace=work, direct=True),
        )
        outcome = agent.act(assignment, workspace, tools)
    said = task.answer if isinstance(task.answer, str) else json.dumps(task.answer)
    watch = model.watch
    return {
        "right": outcome.status == "finished" and outcome.said == said,
        "between_ms": watch.between_ms,
        "characters": watch.characters,
    }


def _smolagents(python: str, how: str) -> list[str]:
    argv = [python, str(HERE / "code_agent_of_smolagents.py"), how, "1"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"smolagents failed: {done.stderr.strip().splitlines()[-1]}")
    return [line for line in done.stdout.splitlines() if line.startswith("{")]


def _print(figures: dict[str, Figures], ours: list[str]) -> None:
    print(f"{'':24}{'first, ms':>10}{'step, ms':>10}{'tokens':>9}{'right':>9}")
    for name, one in figures.items():
        step, first = statistics.median(one.between_ms), statistics.median(one.begin_ms)
        tokens = statistics.mean(one.characters) / CHARACTERS_PER_TOKEN
        print(f"{name:24}{first:10.2f}{step:10.2f}{tokens:9.0f}{sum(one.right):6}/{len(one.right)}")
    print(f"\n{'ratio of a step':24}{'usual':>10}{'quiet':>10}{'goal':>8}")
    for name in ours:
        step = statistics.median(figures[name].between_ms)
        usual, quiet = (
            step / statistics.median(figures[f"smolagents, {how}"].between_ms) for how in ("usual", "quiet")
        )
        print(f"{name:24}{usual:10.2f}{quiet:10.2f}{GOAL:8.2f}  {'met' if usual <= GOAL else 'missed'} as it comes")


def _holds(level: TrustLevel) -> bool:
    try:
        require(level)
    except MilepostError as problem:
        print(f"{level.value} is left out: {problem}")
        return False
    return True


if __name__ == "__main__":
    main()
