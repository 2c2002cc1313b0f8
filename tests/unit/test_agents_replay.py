"""Cassettes and their replay."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.model import Answer, Conversation, Prompt
from milepost.agents.replay import Cassette, ReplayAgent, ReplayModel, load_cassette
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Usage
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.errors import SettingInvalid
from milepost.core.ports import Tools

WRITE = {"text": "I write it.", "calls": [{"name": "write_file", "arguments": {"path": "a.txt", "content": "1"}}]}


class NoTerminal:
    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        raise AssertionError("nothing should be run here")


def cassette(folder: Path, answers: dict[str, Any]) -> Cassette:
    path = folder / "tape.json"
    path.write_text(json.dumps({"version": 1, "answers": answers}))
    return load_cassette(path)


def act(agent: ReplayAgent, folder: Path, *, task: str = "1.1", attempt: int = 1, timeout_s: float = 60) -> Outcome:
    assignment = Assignment(run="r1", task=task, title="Write", text="", attempt=attempt)
    tools = Tools(terminal=NoTerminal(), say=lambda _: None, timeout_s=timeout_s)
    return agent.act(assignment, Workspace(folder=folder, scratch=folder, base="0" * 40), tools)


def test_each_attempt_replays_its_own_answers(tmp_path: Path) -> None:
    edit = {"calls": [{"name": "edit_file", "arguments": {"path": "a.txt", "old": "1", "new": "2"}}]}
    agent = ReplayAgent(cassette(tmp_path, {"1.1": [[WRITE, {"text": "Done.", "cost_usd": 0.5}], [edit, {}]]}))

    assert act(agent, tmp_path) == Outcome(status="finished", said="Done.", usage=Usage(cost_usd=0.5))
    assert (tmp_path / "a.txt").read_text() == "1"
    assert act(agent, tmp_path, attempt=2).status == "finished"
    assert (tmp_path / "a.txt").read_text() == "2"


@pytest.mark.parametrize(
    ("task", "attempt", "says"),
    [
        ("1.1", 2, "the cassette holds 1 attempts at task '1.1', and none with number 2"),
        ("1.1", 0, "the cassette holds 1 attempts at task '1.1', and none with number 0"),
        ("9", 1, "the cassette holds 0 attempts at task '9', and none with number 1"),
        ("1.1", 1, "the cassette ends after 1 answers in attempt 1 at task '1.1'"),
    ],
)
def test_what_was_not_recorded_is_given_up(task: str, attempt: int, says: str, tmp_path: Path) -> None:
    agent = ReplayAgent(cassette(tmp_path, {"1.1": [[WRITE]]}))

    assert act(agent, tmp_path, task=task, attempt=attempt) == Outcome(status="gave_up", said=says)


def test_the_answer_that_is_given_depends_on_the_conversation_alone(tmp_path: Path) -> None:
    answers: list[dict[str, Any]] = [{"text": str(number), "input_tokens": number} for number in range(3)]
    model = ReplayModel(cassette(tmp_path, {"1.1": [answers]}), "1.1", 1)
    said = Answer(text="as the logbook has it")

    for given in (2, 0, 2, 1):
        talk = Conversation(messages=(Prompt(text="do"), *[said] * given), tools=(), timeout_s=9)
        assert model.answer(talk).text == str(given)
        assert model.most(talk) == Usage(input_tokens=given)


def test_pauses_are_kept_but_capped_by_five_seconds_and_by_the_time_left(tmp_path: Path) -> None:
    pauses: list[float] = []
    answers = {"1.1": [[{**WRITE, "seconds": 0.25}, {"seconds": 3600}]]}
    agent = ReplayAgent(cassette(tmp_path, answers), pause=pauses.append)

    assert act(agent, tmp_path).status == "finished"
    assert pauses == [0.25, 5.0]

    pauses.clear()
    assert act(agent, tmp_path, timeout_s=2).status == "timed_out"
    assert pauses[0] == 0.25 and pauses[1] <= 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "the file: Invalid JSON"),
        ("[]", "the file: "),
        ("{}", "version: Field required; answers: Field required"),
        ('{"version": 2, "answers": {}}', "version: Input should be 1"),
        ('{"version": 1, "answers": {"1.1": [{"text": ""}]}}', r"answers\['1.1'\]\[0\]: "),
        ('{"version": 1, "answers": {"1.1": [[{"txt": ""}]]}}', r"answers\['1.1'\]\[0\]\[0\].txt: Extra inputs"),
        ('{"version": 1, "answers": {"1": [[{"calls": [{"arguments": {}}]}]]}}', r"calls\[0\].name: Field required"),
        ('{"version": 1, "answers": {"1": [[{"cost_usd": -1}]]}}', "cost_usd: Input should be greater"),
        ('{"version": 1, "answers": {"1": [[{"seconds": NaN}]]}}', "seconds: Input should be"),
        ('{"version": 1, "answers": {"1": [[{"cost_usd": "1"}]]}}', "cost_usd: Input should be a valid number"),
        ("\udcff", "the file: Invalid JSON"),
    ],
)
def test_a_cassette_that_is_wrong_says_where(content: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "tape.json"
    path.write_bytes(content.encode(errors="surrogateescape"))

    with pytest.raises(SettingInvalid, match=says) as refusal:
        load_cassette(path)

    assert str(path) in refusal.value.message
    assert "\n" not in refusal.value.message


def test_naming_agents_does_not_import_pydantic_until_a_cassette_is_read() -> None:
    code = "import sys, milepost.agents.names; sys.exit(not {'pydantic', 'pydantic_ai'}.isdisjoint(sys.modules))"

    assert subprocess.run([sys.executable, "-c", code], timeout=30).returncode == 0
