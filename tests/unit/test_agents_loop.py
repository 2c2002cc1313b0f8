"""The tool loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from milepost.agents.loop import ToolAgent
from milepost.agents.model import Answer, Conversation, Prompt, Results, ToolCall
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Tools

ASSIGNMENT = Assignment(run="r1", task="1.1", title="Write notes", text="", attempt=1)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class ScriptedModel:
    """Gives its answers in turn and keeps what it was told; each takes `seconds` on the clock."""

    def __init__(self, *answers: Answer, clock: Clock | None = None, seconds: float = 0) -> None:
        self._answers = iter(answers)
        self._clock = clock or Clock()
        self._seconds = seconds
        self.conversations: list[Conversation] = []

    def answer(self, conversation: Conversation) -> Answer:
        self.conversations.append(conversation)
        self._clock.now += self._seconds
        return next(self._answers)


class NoTerminal:
    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        raise AssertionError("nothing should be run here")


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(id=f"id-{name}", name=name, arguments=arguments)


def act(agent: ToolAgent, folder: Path, *, timeout_s: float = 60) -> tuple[Outcome, list[str]]:
    said: list[str] = []
    tools = Tools(terminal=NoTerminal(), say=said.append, timeout_s=timeout_s)
    workspace = Workspace(folder=folder, scratch=folder / "scratch", base="0" * 40)
    return agent.act(ASSIGNMENT, workspace, tools), said


def test_the_model_is_asked_its_calls_are_run_and_it_is_told_the_results(tmp_path: Path) -> None:
    first = Answer(
        text="I begin.",
        calls=(call("write_file", path="a.txt", content="x"), call("read_file", path="b")),
        cost_usd=0.5,
    )
    model = ScriptedModel(first, Answer(text="All done.", cost_usd=0.25))

    outcome, said = act(ToolAgent(model), tmp_path)

    assert outcome == Outcome(status="finished", said="All done.", cost_usd=0.75)
    assert (tmp_path / "a.txt").read_text() == "x"
    prompt, answer, results = model.conversations[1].messages
    assert isinstance(prompt, Prompt) and "# Task 1.1: Write notes" in prompt.text
    assert answer is first
    assert isinstance(results, Results)
    assert [(result.call, result.failed) for result in results.results] == [
        ("id-write_file", False),
        ("id-read_file", True),
    ]
    assert said == ["I begin.", "writing a.txt", "reading b", "error: b: No such file or directory", "All done."]


def test_the_model_is_offered_a_way_to_give_up_and_what_it_asked_for_after_that_is_not_run(tmp_path: Path) -> None:
    calls = (call("give_up", reason="the spec is missing"), call("write_file", path="a.txt", content="x"))
    model = ScriptedModel(Answer(calls=calls, cost_usd=0.5))

    outcome, _ = act(ToolAgent(model), tmp_path)

    assert "give_up" in [tool.name for tool in model.conversations[0].tools]
    assert outcome == Outcome(status="gave_up", said="the spec is missing", cost_usd=0.5)
    assert not (tmp_path / "a.txt").exists()


def test_a_model_that_never_stops_is_stopped_after_the_steps_it_has(tmp_path: Path) -> None:
    again = Answer(calls=(call("list_files"),), cost_usd=0.125)
    model = ScriptedModel(*[again] * 10)

    outcome, _ = act(ToolAgent(model, max_steps=3), tmp_path)

    assert outcome == Outcome(status="gave_up", said="stopped after 3 steps without an end", cost_usd=0.375)
    assert len(model.conversations) == 3


def test_the_calls_of_an_answer_that_came_too_late_are_not_run(tmp_path: Path) -> None:
    clock = Clock()
    late = Answer(calls=(call("write_file", path="a.txt", content="x"),), cost_usd=0.5)
    model = ScriptedModel(Answer(calls=(call("list_files"),)), late, clock=clock, seconds=40)

    outcome, _ = act(ToolAgent(model, clock=clock), tmp_path, timeout_s=60)

    assert outcome == Outcome(status="timed_out", said="not finished after 60 s", cost_usd=0.5)
    assert [conversation.timeout_s for conversation in model.conversations] == [60, 20]
    assert not (tmp_path / "a.txt").exists()
