"""What our own agents cost, beside those of others: the same scripted model, the same tasks, one run.

    python benchmarks/agents.py [ROUNDS]

A figure is the median of what lies between an answer of the model and its next question: running what it asked for,
recording, making the prompt. Rounds of all kinds are interleaved. The code agent runs the code behind walls and keeps
the variables after every step; smolagents' CodeAgent interprets it in its own process, and as it comes prints a log.
mini-swe-agent runs every step as a shell command, without a sandbox; the tool agent does the steps with its own tools
behind walls, as it does by itself, with the very same shell commands behind walls, and with those without any, which
nobody can ask for, to tell the loop from the walls.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Literal

import code_tasks
import tool_tasks
from measuring import HERE, Row, Watch, answers, arguments, levels, others_python, tell

from milepost.agents.code_agent.agent import CodeAgent
from milepost.agents.models.model import Answer, Conversation, Prompt, Results, ToolCall
from milepost.agents.tool_agent.agent import ToolAgent
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Usage
from milepost.core.commands import Command, CommandResult, Line, TrustLevel
from milepost.core.ports import Agent, Terminal, Tools
from milepost.sandbox.levels import open_executor, open_terminal

CHARACTERS_PER_TOKEN = 4
MINI, SMOLAGENTS = "mini-swe-agent", "smolagents, quiet"

Way = Literal["own tools", "commands"]
Measured = dict[str, Any]


class Scripted:
    """The model that answers what its task says."""

    name = "scripted"
    price_known = True

    def __init__(self, answers: list[Answer]) -> None:
        self._answers = answers
        self.watch = Watch()

    def most(self, conversation: Conversation) -> Usage:
        return Usage()

    def answer(self, conversation: Conversation) -> Answer:
        self.watch.asked(len(json.dumps(_sent(conversation), ensure_ascii=False)))
        answer = self._answers.pop(0)
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
    asked = answers(arguments(__doc__, rounds=10))
    for kinds, reference, goals in (_code_agents(asked), _tool_agents(asked)):
        with ExitStack() as stack:
            _compare(kinds(stack), reference, goals, asked.rounds)


def _compare(
    kinds: dict[str, Callable[[], list[Measured]]], reference: str, goals: dict[str, float], rounds: int
) -> None:
    found: dict[str, list[Measured]] = defaultdict(list)
    for number in range(rounds + 1):
        for name, measure in kinds.items():
            measured = measure()
            if number:  # the first one only warms up
                found[name] += measured
    steps = {name: statistics.median(ms for one in each for ms in one["between_ms"]) for name, each in found.items()}
    print(f"\n{'':34}{'step, ms':>10}{'tokens':>9}{'right':>9}")
    for name, each in found.items():
        tokens = statistics.mean(one["characters"] for one in each) / CHARACTERS_PER_TOKEN
        right = sum(one["right"] for one in each)
        print(f"{name:34}{steps[name]:10.2f}{tokens:9.0f}{right:6}/{len(each)}")
        assert right == len(each) or not name.startswith("milepost"), name
    for name, goal in goals.items():
        if reference in steps and name in steps:
            tell(Row(what=f"a step: {name}, of {reference}", now=steps[name], reference=steps[reference], goal=goal))


Kinds = Callable[[ExitStack], dict[str, Callable[[], list[Measured]]]]


def _code_agents(asked: Namespace) -> tuple[Kinds, str, dict[str, float]]:
    def kinds(_: ExitStack) -> dict[str, Callable[[], list[Measured]]]:
        made: dict[str, Callable[[], list[Measured]]] = {
            f"milepost, code agent, {level.value}": partial(_each, code_tasks.TASKS, partial(_code, level))
            for level in levels()
        }
        if python := others_python("code-agent", asked):
            for how in ("usual", "quiet"):
                made[f"smolagents, {how}"] = partial(_others, python, "code_agent_of_smolagents.py", how)
        return made

    return kinds, SMOLAGENTS, {f"milepost, code agent, {level.value}": 2.0 for level in TrustLevel}


def _tool_agents(asked: Namespace) -> tuple[Kinds, str, dict[str, float]]:
    def kinds(stack: ExitStack) -> dict[str, Callable[[], list[Measured]]]:
        places: list[tuple[str, Terminal, Way]] = [("no walls", NoWalls(), "commands")]
        for level in levels():
            terminal = stack.enter_context(open_terminal(level))
            places += [(level.value, terminal, "own tools"), (level.value, terminal, "commands")]
        made: dict[str, Callable[[], list[Measured]]] = {
            f"milepost, {where}, {way}": partial(_each, tool_tasks.TASKS, partial(_tool, terminal, way))
            for where, terminal, way in places
        }
        if python := others_python("tool-agent", asked):
            made[MINI] = partial(_others, python, "tool_agent_of_mini.py")
        return made

    return kinds, MINI, {f"milepost, {level.value}, commands": 1.3 for level in TrustLevel}


def _each(tasks: Any, measure: Callable[[Any], Measured]) -> list[Measured]:
    return [measure(task) for task in tasks]


def _code(level: TrustLevel, task: code_tasks.Task) -> Measured:
    """One task done by our code agent at a level."""
    said = task.answer if isinstance(task.answer, str) else json.dumps(task.answer)
    model = Scripted([Answer(text=f"I go on.\n```python\n{step}\n```") for step in task.steps])
    right = _acted(CodeAgent(model), task.text, NoWalls(), level, lambda _: None, lambda _, told: told.said == said)
    return {"right": right, "between_ms": model.watch.between_ms, "characters": model.watch.characters}


def _tool(terminal: Terminal, way: Way, task: tool_tasks.Task) -> Measured:
    """One task done by our tool agent."""
    own = [(step.tool, step.arguments) for step in task.steps]
    same: list[tuple[str, Any]] = [("execute", {"argv": ["bash", "-c", step.command]}) for step in task.steps]
    calls = [
        ToolCall(id=str(number), name=name, arguments=given)
        for number, (name, given) in enumerate(own if way == "own tools" else same)
    ]
    model = Scripted([*(Answer(text="I go on.", calls=(call,)) for call in calls), Answer(text="Done.")])
    right = _acted(
        ToolAgent(model), task.text, terminal, TrustLevel.ISOLATED,
        lambda folder: tool_tasks.prepared(task, folder), lambda folder, _: tool_tasks.is_right(task, folder),
    )  # fmt: skip
    return {"right": right, "between_ms": model.watch.between_ms, "characters": model.watch.characters}


def _acted(
    agent: Agent,
    text: str,
    terminal: Terminal,
    level: TrustLevel,
    prepare: Callable[[Path], object],
    is_right: Callable[[Path, Outcome], bool],
) -> bool:
    """Let an agent of ours do a task; whether what came of it is right."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        prepare(folder)
        assignment = Assignment(run="r", task="1", title=text, text="", attempt=1)
        workspace = Workspace(folder=folder, scratch=Path(place) / "scratch", base="0" * 40)
        tools = Tools(
            terminal=terminal,
            say=lambda _: None,
            timeout_s=600,
            open_interpreter=lambda work, limits: open_executor(level, limits, workspace=work, direct=True),
        )
        outcome = agent.act(assignment, workspace, tools)
        return outcome.status == "finished" and is_right(folder, outcome)


def _others(python: str, program: str, *words: str) -> list[Measured]:
    """What the agent of others takes, in a process and a home of its own."""
    with tempfile.TemporaryDirectory() as home:
        quiet = {"MSWEA_SILENT_STARTUP": "1", "MSWEA_GLOBAL_CONFIG_DIR": home, "HOME": home}
        argv = [python, str(HERE / program), *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, **quiet})
    if done.returncode:
        sys.exit(f"{program} failed: {done.stderr.strip().splitlines()[-1]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


if __name__ == "__main__":
    main()
