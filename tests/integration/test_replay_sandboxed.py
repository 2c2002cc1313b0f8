"""Recorded attempts played in the sandbox: by the loop in which a model writes Python, and as a change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.models.model import Answer
from milepost.agents.replay.cassette import Cassette, RecordedAnswer, RecordedDiff, RecordedTalk
from milepost.agents.replay.replay import ReplayAgent
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.ports import Agent, Interpreter, Tools, no_interpreter
from milepost.sandbox.levels import open_executor, open_terminal

Opened = Callable[[Path, ExecutionLimits], Interpreter]
ASSIGNMENT = Assignment(run="r1", task="1.1", title="Write notes", text="", attempt=1)
OUT = (
    b"diff --git a/../out.txt b/../out.txt\nnew file mode 100644\n--- /dev/null\n+++ b/../out.txt\n@@ -0,0 +1 @@\n+x\n"
)
HOOK = OUT.replace(b"../out.txt", b".git/hooks/x")


def played(agent: Agent, place: Path, level: TrustLevel, opened: Opened = no_interpreter) -> Outcome:
    workspace = Workspace(folder=place / "work", scratch=place / "scratch", base="0" * 40)
    for folder in (workspace.folder, workspace.scratch):
        folder.mkdir()
    with open_terminal(level) as terminal:
        tools = Tools(terminal=terminal, say=lambda _: None, timeout_s=60, open_interpreter=opened)
        return agent.act(ASSIGNMENT, workspace, tools)


def test_answers_in_python_are_run_again(tmp_path: Path) -> None:
    pieces = ("n = 41", "write_file('n.txt', str(n + 1))\nfinal_answer('Done.')")
    answers = tuple(RecordedAnswer(answer=Answer(text=f"```python\n{piece}\n```")) for piece in pieces)
    level = TrustLevel.ISOLATED

    def opened(folder: Path, limits: ExecutionLimits) -> Any:
        return open_executor(level, limits, workspace=folder, direct=True)

    agent = ReplayAgent(
        Cassette(attempts={"1.1": (RecordedTalk(answers=answers, agent="code"),)}),
    )

    outcome = played(agent, tmp_path, level, opened)

    assert (outcome.status, (tmp_path / "work/n.txt").read_text()) == ("finished", "42"), outcome.said


@pytest.mark.parametrize("level", [TrustLevel.ISOLATED, TrustLevel.SANDBOXED], ids=str)
@pytest.mark.parametrize("diff", [OUT, HOOK], ids=["out", "hook"])
def test_a_recorded_change_cannot_leave_the_workspace(diff: bytes, level: TrustLevel, tmp_path: Path) -> None:
    outcome = played(ReplayAgent(Cassette(attempts={"1.1": (RecordedDiff(diff=diff),)})), tmp_path, level)

    assert outcome.status == "gave_up" and "the recorded change does not fit" in outcome.said
    assert not (tmp_path / "out.txt").exists() and not list((tmp_path / "work").iterdir())
