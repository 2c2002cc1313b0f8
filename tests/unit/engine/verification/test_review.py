"""A further opinion: it may refuse, it never decides, and no answer is a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.commands import Command, CommandResult
from milepost.core.ports import Tools
from milepost.core.task import Task
from milepost.core.verdict import Verdict, judge
from milepost.engine.verification.review import OpinionCheck, Reviewer, refusal_in

TASK = Task(id="1", title="Add f", status="open", line=1, text="f adds")
CHANGE = Change(files=(ChangedFile(path="a.py", before=b"x = 1\n", after=b"x = 2\n"),))


class Critic:
    """Says one thing, and remembers what it was asked."""

    def __init__(self, said: str) -> None:
        self.said = said
        self.asked = ""

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        self.asked = assignment.text
        return Outcome(status="finished", said=self.said)


class NoTerminal:
    def run(self, command: Command, on_line: object = None) -> CommandResult:
        raise AssertionError


def opinion(critic: Critic) -> OpinionCheck:
    tools = Tools(terminal=NoTerminal(), say=lambda _: None, timeout_s=1)
    reviewer = Reviewer(name="claude", run="r", agent=lambda: critic, tools=lambda task, attempt, tree: tools)
    return OpinionCheck(reviewer=reviewer, task=TASK, change=CHANGE, attempt=1, tree="t")


def test_praise_decides_nothing_and_a_refusal_fails() -> None:
    workspace = Workspace(folder=Path(), scratch=Path(), base="")
    praise = opinion(Critic('Fine.\n{"accept": true}')).run(workspace)
    assert (praise.outcome, praise.decisive) == ("passed", False)
    assert judge("t", (praise,)).verdict is Verdict.UNVERIFIED
    refused = opinion(Critic('{"accept": false, "reason": "f subtracts"}')).run(workspace)
    assert (refused.outcome, refused.summary) == ("failed", "claude objects: f subtracts")


def test_the_reviewer_sees_the_task_and_the_change_as_data() -> None:
    critic = Critic('{"accept": true}')
    opinion(critic).run(Workspace(folder=Path(), scratch=Path(), base=""))
    assert "f adds" in critic.asked
    assert "-x = 1\n+x = 2" in critic.asked


@pytest.mark.parametrize("said", ["", "yes", '{"accept": "yes"}', '{"accept": tru', "[1]", '{"reason": "x"}'])
def test_an_answer_that_cannot_be_read_is_a_refusal(said: str) -> None:
    assert refusal_in(said) is not None
