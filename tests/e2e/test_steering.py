"""A run is steered while it is on, and says what that changes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from tests.e2e.conftest import Sandbox
from tests.slow import slow

FIRST = "# Roadmap\n\n- [ ] A1 First\n  - write a.txt one\n  - wait\n  - Verify: grep -q one a.txt\n"
SECOND = "- [ ] A2 Second\n  - write b.txt two\n  - Depends on: A1\n  - Verify: grep -q two b.txt\n"
THIRD = "- [ ] A3 Third\n  - write c.txt three\n  - Verify: grep -q three c.txt\n"


def until(found: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not found():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.05)


class Run:
    """A run in the background whose first task waits until it is let go."""

    def __init__(self, sandbox: Sandbox, *words: str) -> None:
        self.sandbox = sandbox
        self.process = sandbox.start("run", "--agent", sandbox.agent, *words)
        until(self.is_at_work, "the first attempt")

    def is_at_work(self) -> bool:
        """Whether an agent was given what it is to do: what is noted from then on is for the next attempt."""
        return '"by": "agent"' in self.sandbox.milepost("events", "--json").stdout

    def status(self) -> str:
        return self.sandbox.milepost("status").stdout

    def steered(self, words: str) -> None:
        until(lambda: words in self.sandbox.milepost("events", "--json").stdout, words)

    def let_go(self) -> tuple[int, str]:
        self.sandbox.let_go()
        said, told = self.process.communicate(timeout=120)
        return self.process.returncode, said + told


def test_an_edited_roadmap_is_followed_and_its_new_task_gets_its_tick(sandbox: Sandbox) -> None:
    sandbox.roadmap(FIRST + SECOND)
    run = Run(sandbox)
    (sandbox.repo / "ROADMAP.md").write_text(FIRST + THIRD)
    run.steered("added: it is on the roadmap now")
    code, said = run.let_go()
    assert code == 1, said
    assert "A2" in said and "dropped" in said
    tip = sandbox.git("for-each-ref", "--format=%(objectname)", "refs/heads/milepost")
    roadmap = sandbox.git("show", f"{tip}:ROADMAP.md")
    assert "- [x] A1" in roadmap and "- [x] A3" in roadmap and "A2" not in roadmap
    assert (sandbox.repo / "ROADMAP.md").read_text() == FIRST + THIRD, "the user's own file is as they left it"


def test_a_roadmap_that_is_committed_meanwhile_is_joined_with_the_mileposts(sandbox: Sandbox) -> None:
    sandbox.roadmap(FIRST + SECOND)
    run = Run(sandbox)
    (sandbox.repo / "ROADMAP.md").write_text(FIRST + SECOND + THIRD)
    sandbox.commit("One more task")
    run.steered("added: it is on the roadmap now")
    code, said = run.let_go()
    assert code == 0, said
    assert "fast-forwarded" in said
    roadmap = (sandbox.repo / "ROADMAP.md").read_text()
    assert all(f"- [x] {task}" in roadmap for task in ("A1", "A2", "A3")), roadmap
    assert "One more task" in sandbox.git("log", "--format=%s")


@slow
def test_a_task_written_beside_a_ticked_one_gets_its_box_on_the_branch(sandbox: Sandbox) -> None:
    one, two = FIRST.replace("  - wait\n", ""), SECOND.replace("  - Depends", "  - wait\n  - Depends")
    sandbox.roadmap(one + two)
    run = Run(sandbox)
    until(lambda: "✓ A1" in run.status(), "the first milepost")
    new = "- [ ] A0 New\n  - write c.txt three\n  - Verify: grep -q three c.txt\n"
    (sandbox.repo / "ROADMAP.md").write_text(one.replace("- [ ] A1", new + "- [ ] A1") + two)
    run.steered("added: it is on the roadmap now")
    run.let_go()
    tip = sandbox.git("for-each-ref", "--format=%(objectname)", "refs/heads/milepost")
    roadmap = sandbox.git("show", f"{tip}:ROADMAP.md")
    assert all(f"- [x] {task}" in roadmap for task in ("A0", "A1", "A2")), roadmap


@slow
def test_a_roadmap_that_cannot_be_followed_any_more_changes_nothing(sandbox: Sandbox) -> None:
    sandbox.roadmap(FIRST + SECOND)
    run = Run(sandbox)
    (sandbox.repo / "ROADMAP.md").write_text(FIRST + SECOND.replace("Depends on: A1", "Depends on: A2"))
    run.steered("roadmap is invalid")
    (sandbox.repo / "ROADMAP.md").write_text(FIRST + SECOND)
    code, said = run.let_go()
    assert code == 0, said


NOTED = "# Roadmap\n\n- [ ] A1 First\n  - notes a.txt\n  - wait\n  - Verify: grep -q parser a.txt\n"


def test_a_note_reaches_the_next_attempt_at_its_task_and_no_other(sandbox: Sandbox) -> None:
    sandbox.roadmap(NOTED + "- [ ] A2 Second\n  - notes b.txt\n  - Depends on: A1\n  - Verify: grep -qx both b.txt\n")
    run = Run(sandbox)
    asked = sandbox.milepost("steer", "--note", "use the parser, not ghp_" + "a1B2" * 9, "--task", "a1")
    assert "from the next attempt on" in asked.stdout, asked
    sandbox.milepost("steer", "--note", "both")
    run.steered("note: both")
    code, said = run.let_go()
    assert code == 0, said
    events = sandbox.milepost("events", "--json").events
    assert [(one["task"], one["attempt"]) for one in events if one["event"] == "attempt_finished"][:2] == [
        ("A1", 1),
        ("A1", 2),
    ]
    told = [one for one in events if one["event"] == "steered"]
    assert [(one["task"], one["what"][:20]) for one in told] == [("A1", "note: use the parser"), ("", "note: both")]
    assert "ghp_a1B2" not in str(told) + sandbox.git("show", "HEAD~1:a.txt"), "secrets are taken out"
    assert "parser" in sandbox.git("show", "HEAD:a.txt") and sandbox.git("show", "HEAD:b.txt") == "both"


def test_a_note_outlives_the_run_that_was_killed_and_is_told_once(sandbox: Sandbox) -> None:
    sandbox.roadmap(NOTED)
    run = Run(sandbox)
    sandbox.milepost("steer", "--note", "use the parser")
    run.steered("note: use the parser")
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.communicate(timeout=60)
    sandbox.let_go()
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed
    told = [one["event"] for one in sandbox.milepost("events", "--json").events]
    assert (told.count("steered"), told.count("attempt_finished")) == (1, 1)


def test_a_paused_run_begins_nothing_new_until_it_is_resumed(sandbox: Sandbox) -> None:
    sandbox.roadmap(FIRST + SECOND)
    run = Run(sandbox)
    assert "paused" in sandbox.milepost("pause").stdout
    run.steered("nothing new starts")
    sandbox.let_go()
    until(lambda: "✓ A1" in run.status(), "the first milepost")
    assert "A2" not in sandbox.milepost("log").stdout
    resumed = sandbox.milepost("resume")
    assert "continues where it runs" in resumed.stdout, resumed
    run.process.communicate(timeout=120)
    assert run.process.returncode == 0
    assert "A2" in sandbox.milepost("log").stdout


@slow
def test_a_run_that_is_to_stop_after_its_task_stops_there_and_can_be_resumed(sandbox: Sandbox) -> None:
    sandbox.roadmap(FIRST + SECOND)
    run = Run(sandbox)
    sandbox.milepost("stop", "--after-task")
    run.steered("stops when the running tasks are finished")
    code, said = run.let_go()
    assert code == 130, said
    assert "A2" not in sandbox.milepost("log").stdout
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert "A2" in sandbox.milepost("log").stdout


@slow
def test_a_task_is_dropped_and_another_agent_takes_over_what_begins_later(sandbox: Sandbox) -> None:
    sandbox.roadmap(FIRST + SECOND + THIRD.replace("  - Verify", "  - Depends on: A1\n  - Verify"))
    run = Run(sandbox)
    other = sandbox.agent + " other"
    sandbox.milepost("steer", "--drop", "A3", "--agent", other)
    run.steered("dropped from this run")
    code, said = run.let_go()
    assert code == 1, said
    agents = sandbox.git("log", "-1", "--format=%(trailers:key=Milepost-Agent,valueonly)")
    assert agents.strip() == other, said
