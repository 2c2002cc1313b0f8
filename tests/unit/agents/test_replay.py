"""Cassettes and their replay."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.models.model import Answer, Conversation, Model, Prompt, ToolCall
from milepost.agents.replay.cassette import Cassette, RecordedAnswer, RecordedDiff, RecordedEnd, RecordedTalk
from milepost.agents.replay.cassette_writer import write
from milepost.agents.replay.replay import ReplayAgent, ReplayModel, load_cassette
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Usage
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.errors import AgentUnknown, SettingInvalid, StateUnwritable
from milepost.core.ports import Tools
from milepost.core.secrets.redact import Redactor

WRITE = {"text": "I write it.", "calls": [{"name": "write_file", "arguments": {"path": "a.txt", "content": "1"}}]}


class NoTerminal:
    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        raise AssertionError("nothing should be run here")


def cassette(folder: Path, answers: dict[str, Any]) -> Cassette:
    path = folder / "tape.json"
    path.write_text(json.dumps({"version": 1, "answers": answers}))
    return load_cassette(path)


class PlainTerminal:
    """Runs what it is told to, held by nothing."""

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        done = subprocess.run(command.argv, cwd=command.cwd, capture_output=True, text=True, timeout=60, check=False)
        return CommandResult(
            termination="exited",
            exit_code=done.returncode,
            stdout=done.stdout,
            stderr=done.stderr,
            duration_ms=1,
            enforced=("files",),
        )


def act(
    agent: ReplayAgent,
    folder: Path,
    *,
    task: str = "1.1",
    attempt: int = 1,
    timeout_s: float = 60,
    terminal: NoTerminal | PlainTerminal | None = None,
) -> Outcome:
    assignment = Assignment(run="r1", task=task, title="Write", text="", attempt=attempt)
    tools = Tools(terminal=terminal or NoTerminal(), say=lambda _: None, timeout_s=timeout_s)
    return agent.act(assignment, Workspace(folder=folder, scratch=folder, base="0" * 40), tools)


def test_each_attempt_replays_its_own_answers(tmp_path: Path) -> None:
    look = {"name": "read_file", "arguments": {"path": "a.txt"}}
    edit = {"calls": [look, {"name": "edit_file", "arguments": {"path": "a.txt", "old": "1", "new": "2"}}]}
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
    recorded = cassette(tmp_path, {"1.1": [answers]}).attempt("1.1", 1)
    assert isinstance(recorded, RecordedTalk)
    model = ReplayModel(recorded, "attempt 1")
    said = Answer(text="as the logbook has it")

    for given in (2, 0, 2, 1):
        talk = Conversation(messages=(Prompt(text="do"), *[said] * given), tools=(), timeout_s=9)
        counted = Conversation(messages=(Prompt(text="shortened"),), tools=(), timeout_s=9, number=given + 1)
        assert model.answer(talk).text == model.answer(counted).text == str(given)
        assert model.most(talk) == model.most(counted) == Usage(input_tokens=given)


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
        ('{"version": 3, "answers": {}}', "version: Input should be 1 or 2"),
        ('{"version": 2, "answers": {}}', "tasks: Field required; answers: Extra inputs"),
        ('{"version": 2, "tasks": {"1.1": [{}]}}', r"tasks\['1.1'\]\[0\]: Value error, it must have either answers or"),
        ('{"version": 2, "tasks": {"1": [{"diff": "", "answers": []}]}}', "it must have either answers or a diff"),
        ('{"version": 2, "tasks": {"1": [{"diff": "", "outcome": "won"}]}}', "outcome: Input should be 'finished'"),
        (
            '{"version": 2, "tasks": {"1": [{"answers": [], "agent": "claude"}]}}',
            "agent: Input should be 'tool' or 'code'",
        ),
        ('{"version": 2, "tasks": {"1": [{"diff_base64": "?"}]}}', "diff_base64: "),
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

    assert subprocess.run([sys.executable, "-c", code], timeout=300).returncode == 0


DIFF = b"diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+caf%s\n"


def test_what_is_written_is_read_again_as_it_was_but_for_secrets(tmp_path: Path) -> None:
    path, secret = tmp_path / "tape.json", "a secret of some length"
    call = ToolCall(id="1.1.1", name="write_file", arguments={"path": "a", "content": [f"is {secret}"]}, problem="odd")
    usage = Usage(input_tokens=5, output_tokens=4, cached_tokens=3, cost_usd=0.25)
    answer = Answer(text="I write.", calls=(call,), usage=usage, flaw="it was cut off")
    end = RecordedEnd(status="gave_up", said="no more")
    talk = RecordedTalk(answers=(RecordedAnswer(answer=answer, model="openai:gpt-5"),), agent="code", end=end)
    diffs = [RecordedDiff(diff=DIFF % word, end=end, usage=usage) for word in (b"e", b"\xe9", b"\xc3\xa9")]
    write(Cassette(attempts={"1.1": (talk, *diffs)}), path, Redactor([secret]))

    assert secret not in path.read_text()
    masked = load_cassette(path).attempt("1.1", 1)
    assert isinstance(masked, RecordedTalk) and secret not in str(masked)
    write(Cassette(attempts={"1.1": (talk, *diffs)}), path, str)
    assert load_cassette(path).attempts == {"1.1": (talk, *diffs)}
    assert [one.name for one in tmp_path.iterdir()] == ["tape.json"]
    with pytest.raises(StateUnwritable, match="cannot be written"):
        write(Cassette(attempts={}), tmp_path / "nowhere" / "tape.json", str)


def test_packed_files_in_a_diff_are_not_taken_for_secrets(tmp_path: Path) -> None:
    packed = b"diff --git a/p b/p\nGIT binary patch\nliteral 3\nKc$@%N\n\n"
    write(Cassette(attempts={"1": (RecordedDiff(diff=packed + DIFF % b"e"),)}), tmp_path / "t", lambda _: "masked\n")

    [found] = load_cassette(tmp_path / "t").attempts["1"]
    assert isinstance(found, RecordedDiff) and found.diff == b"masked\n" + packed.split(b"p\n", 1)[1] + b"masked\n"


def test_a_recorded_change_is_made_in_the_files_and_ends_as_it_did(tmp_path: Path) -> None:
    end = RecordedEnd(status="limited", said="busy\nlimit reached: try again in 3600 s")
    changes = tuple(
        RecordedDiff(diff=diff, end=end, usage=Usage(cost_usd=2)) for diff in (DIFF % b"\xe9", b"", b"+?\n")
    )
    agent = ReplayAgent(Cassette(attempts={"1.1": changes}))

    made = act(agent, tmp_path, terminal=PlainTerminal())
    assert (tmp_path / "a.txt").read_bytes() == b"caf\xe9\n"
    assert (made.status, made.said) == ("limited", "busy\nlimit reached: try again in 1 s")
    assert (made.cost_usd, made.enforced) == (2, ("files",))
    assert act(agent, tmp_path, attempt=2).status == "limited", "nothing to change is nothing to run"
    unfit = act(agent, tmp_path, attempt=3, terminal=PlainTerminal())
    assert unfit.status == "gave_up" and "the recorded change does not fit: " in unfit.said


def test_a_change_is_made_from_the_base_though_an_attempt_before_left_its_own(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    git("init", "--quiet")
    (tmp_path / "kept.txt").write_text("as it was\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "base")
    (tmp_path / "kept.txt").write_text("changed\n")
    (tmp_path / "a.txt").write_text("in the way\n")
    scratch = tmp_path / ".git" / "scratch"
    scratch.mkdir()
    tools = Tools(terminal=PlainTerminal(), say=lambda _: None, timeout_s=60)
    workspace = Workspace(folder=tmp_path, scratch=scratch, base="0" * 40)
    agent = ReplayAgent(Cassette(attempts={"1.1": (RecordedDiff(diff=DIFF % b"e"),)}))

    outcome = agent.act(Assignment(run="r1", task="1.1", title="", text="", attempt=1), workspace, tools)

    assert outcome.status == "finished", outcome.said
    assert ((tmp_path / "kept.txt").read_text(), (tmp_path / "a.txt").read_text()) == ("as it was\n", "cafe\n")


def test_each_attempt_is_played_by_the_loop_that_recorded_it_and_ends_as_it_did_when_answers_run_out(
    tmp_path: Path,
) -> None:
    class Writes:
        """A loop that asks until nobody answers."""

        def __init__(self, model: Model) -> None:
            self._model = model

        def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
            said = self._model.answer(Conversation(messages=(), tools=(), timeout_s=9, number=1)).text
            (workspace.folder / "by-code.txt").write_text(said)
            return Outcome(status="finished", said=self._model.name)

    talk = RecordedTalk(answers=(RecordedAnswer(answer=Answer(text="print(1)")),), agent="code")
    spent = RecordedTalk(answers=(), end=RecordedEnd(status="spent", said="the money is gone"))
    tape = Cassette(attempts={"1.1": (talk, spent)})
    agent = ReplayAgent(tape, loops={"code": Writes})

    assert act(agent, tmp_path).said == "replay:code"
    assert (tmp_path / "by-code.txt").read_text() == "print(1)"
    assert act(ReplayAgent(tape), tmp_path, attempt=2) == Outcome(status="spent", said="the money is gone")
    with pytest.raises(AgentUnknown, match="recorded with the agent 'code', which does not replay here"):
        act(ReplayAgent(tape, loops={}), tmp_path)
