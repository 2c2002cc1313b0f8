"""Held work is a question, never a failure: it waits for a person after the run, and lands at a word."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

import milepost
from tests.e2e.conftest import Answer, Sandbox
from tests.slow import slow

PLAIN = "- [ ] 1.1 Write a\n  - write a.txt hello\n"
CHECKED = "- [ ] 1.2 Write b\n  - write b.txt hello\n  - Verify: test -f b.txt\n"
AFTER = "- [ ] 1.3 Write c\n  - write c.txt hello\n  - Verify: test -f c.txt\n  - Depends on: 1.1\n"
ASKED = "- [ ] 1.1 Change a price\n  - write asked.txt 3\n  - Verify: test -f asked.txt\n"

# The command line, where whatever changes asked.txt raises a question that only a person can answer.
ASKING = """
import sys
from dataclasses import replace
from milepost.core.verdict import CheckResult, Question, Verdict, judge
from milepost.engine.verification.verifier import Verifier

examine = Verifier.examine

def asking(self, task, candidate, *rest):
    found = examine(self, task, candidate, *rest)
    if "asked.txt" not in candidate.changed or found.verdict is Verdict.FAILED:
        return found
    question = Question(
        kind="changed test", text="test_price expects another price", path="tests/test_price.py", line=7,
        before="price == 2", after="price == 3")
    held = CheckResult(name="changed tests", outcome="held", summary="1 expectation changed", questions=(question,))
    return replace(judge(found.tree, (*found.checks, held)), confidence=found.confidence)

Verifier.examine = asking
from milepost.cli.main import main
sys.argv = ["milepost", *sys.argv[1:]]
main()
"""


def started(sandbox: Sandbox, *words: str, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ASKING, *words],
        cwd=sandbox.repo,
        env={**sandbox.environment, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def asking(sandbox: Sandbox, *words: str, **env: str) -> Answer:
    with started(sandbox, *words, **env) as process:
        stdout, stderr = process.communicate(timeout=300)
    return Answer(process.returncode, stdout, stderr)


def run(sandbox: Sandbox, *words: str, **env: str) -> Answer:
    return asking(sandbox, "run", "--agent", sandbox.agent, *words, **env)


def wait_until(holds: Callable[[], Any]) -> Any:
    until = time.monotonic() + 90
    while not (found := holds()):
        assert time.monotonic() < until, "it never came"
        time.sleep(0.1)
    return found


def verdicts(ended: Answer) -> dict[str, str | None]:
    return {task["id"]: task["verdict"] for task in ended.events[-1]["tasks"]}


def test_a_run_ends_with_its_question_open_and_the_owner_accepts_with_one_command(sandbox: Sandbox) -> None:
    sandbox.roadmap(PLAIN + CHECKED + AFTER)
    ended = sandbox.run("--json")
    assert ended.code == 1
    assert verdicts(ended) == {"1.1": "held", "1.2": "passed", "1.3": None}
    tasks = {task["id"]: task for task in ended.events[-1]["tasks"]}
    assert tasks["1.1"]["attempts"] == 1 and tasks["1.3"]["reason"] == "waits for 1.1"
    assert sandbox.mileposts() == ["1.2"], "what passed has arrived"
    (asked,) = sandbox.milepost("gates", "--json").json
    assert (asked["kind"], asked["gate"], asked["over"]) == ("held", "1.1/1/held", True)
    assert asked["question"].startswith("nothing shows that this was done") and "+hello" in asked["shown"]

    nothing = sandbox.run()
    assert (nothing.code, nothing.stdout.strip()) == (1, "nothing to do: 1.1 waits for your answer: milepost gates")
    listed = sandbox.milepost("accept", "--list").stdout
    assert "1.1  Write a · held" in listed and "milepost accept 1.1" in listed and "│ +hello" in listed

    taken = sandbox.milepost("accept", "1.1", "--why", "I read it")
    assert taken.code == 0, taken.stderr
    assert "accepted by Ada, not verified" in taken.stdout
    assert sandbox.mileposts() == ["1.2", "1.1"] and (sandbox.repo / "a.txt").read_text() == "hello\n"
    assert "- [x] 1.1" in (sandbox.repo / "ROADMAP.md").read_text()
    assert "Milepost-Verdict: accepted by Ada, not verified" in sandbox.git("log", "-1", "--format=%B")
    proof = sandbox.milepost("proof", "1.1", "--json").json
    assert proof["verdict"] == "held" and proof["accepted_by"] == "Ada"
    assert "accepted by Ada, not verified" in sandbox.milepost("proof", "1.1").stdout
    assert milepost.waiting_gates(sandbox.repo / "ROADMAP.md") == ()
    status = sandbox.milepost("status", "--json").json["progress"]
    assert (status["passed"], status["accepted"], status["lost"]) == (["1.2"], ["1.1"], ["1.3"])
    assert "accepted" in sandbox.milepost("status").stdout
    learnt = sandbox.milepost("memory", "list", "--episodes", "--outcome", "success", "--json").json
    assert len(learnt) == 1, "accepted work teaches nothing: only 1.2 does"
    again = sandbox.milepost("accept", "1.1")
    assert again.code == 2 and "nothing of task '1.1' waits" in again.stderr

    assert sandbox.run().code == 0, "what waited for it goes on"
    assert sandbox.mileposts() == ["1.2", "1.1", "1.3"]


def test_held_work_is_shown_with_both_expectations_and_lands_when_it_is_approved(sandbox: Sandbox) -> None:
    sandbox.roadmap(ASKED)
    ended = run(sandbox)
    assert ended.code == 1
    assert "0 passed · 1 held" in ended.stdout and "next   milepost gates" in ended.stdout, ended.stdout
    seen = sandbox.milepost("gates").stdout
    assert "  1 expectation changed" in seen
    assert "│ test_price expects another price (tests/test_price.py:7)" in seen
    assert "│   was: price == 2\n" in seen and "│   now: price == 3\n" in seen and "│ +3" in seen
    status = sandbox.milepost("status").stdout
    assert "1 held" in status and "milepost gates" in status

    assert sandbox.milepost("memory", "list", "--episodes", "--outcome", "success", "--json").json == []
    landed = asking(sandbox, "approve", "1.1", "--json").json
    learnt = sandbox.milepost("memory", "list", "--episodes", "--outcome", "success", "--json").json
    assert len(learnt) == 1, "what was approved is a success, and only now"
    assert landed["answered_by"] == "Ada" and not landed["landed"]["verified_again"], "that tree was verified"
    assert landed["landed"]["branch"] == "main"
    assert sandbox.mileposts() == ["1.1"] and (sandbox.repo / "asked.txt").read_text() == "3\n"
    assert "Milepost-Verdict: held, approved by Ada" in sandbox.git("log", "-1", "--format=%B")
    proof = sandbox.milepost("proof", "1.1", "--json").json
    assert (proof["verdict"], proof["approved_by"]) == ("passed", "Ada")
    assert [question["after"] for question in proof["questions"]] == ["price == 3"]
    assert "held, approved by Ada" in sandbox.milepost("proof", "1.1").stdout
    assert sandbox.milepost("status", "--json").json["progress"]["passed"] == ["1.1"]
    told = [event["event"] for event in sandbox.milepost("events", "--json").events]
    assert told[-4:] == ["attempt_finished", "milepost_made", "task_finished", "gate_answered"]
    assert sandbox.milepost("approve", "1.1").code == 2, "it is not asked any more"


@slow
def test_a_rejection_after_the_run_goes_back_with_the_reason(sandbox: Sandbox) -> None:
    sandbox.roadmap(ASKED.replace("write asked.txt 3", "write asked.txt 3\n  - notes told.txt"))
    assert run(sandbox).code == 1
    no = sandbox.milepost("reject", "1.1", "the price stays at 2")
    assert no.code == 0 and "milepost retry 1.1   sends it back with the reason" in no.stdout
    assert sandbox.milepost("gates").stdout.startswith("no questions")
    assert sandbox.milepost("approve", "1.1").code == 2
    stands = sandbox.milepost("status").stdout
    assert "refused by a person" in stands and "the price stays at 2" in stands and "held" not in stands
    assert "milepost gates" not in stands, "nothing is asked there"
    assert asking(sandbox, "retry", "1.1").code == 1
    (asked,) = sandbox.milepost("gates", "--json").json
    assert "sent back by Ada: the price stays at 2" in asked["shown"], "the agent was told"


@slow
def test_while_other_work_is_under_way_an_answer_lands_held_work_in_the_run(sandbox: Sandbox) -> None:
    sandbox.roadmap(ASKED + "- [ ] 1.2 Wait\n  - wait\n  - write b.txt x\n  - Verify: test -f b.txt\n" + AFTER)
    with started(sandbox, "run", "--agent", sandbox.agent, "--json", "--parallel", "2") as process:
        wait_until(lambda: milepost.waiting_gates(sandbox.repo / "ROADMAP.md"))
        yes = sandbox.milepost("approve", "1.1")
        assert "the run continues with this answer" in yes.stdout, yes.stdout
        wait_until(lambda: "1.3" in str(sandbox.milepost("status", "--json").json["tasks"]))
        sandbox.let_go()
        stdout, stderr = process.communicate(timeout=120)
    ended = Answer(process.returncode, stdout, stderr)
    assert ended.code == 0, ended.stderr
    assert verdicts(ended) == {"1.1": "passed", "1.2": "passed", "1.3": "passed"}
    reason = next(task["reason"] for task in ended.events[-1]["tasks"] if task["id"] == "1.1")
    assert reason == "held, approved by Ada"
    assert set(sandbox.mileposts()) == {"1.1", "1.2", "1.3"}


@slow
def test_a_later_run_leaves_held_work_alone_unless_it_is_named(sandbox: Sandbox) -> None:
    sandbox.roadmap(ASKED)
    assert run(sandbox).code == 1
    sandbox.roadmap(ASKED + CHECKED)
    ended = run(sandbox)
    assert ended.code == 0, ended.stdout
    assert "1.1 waits for your answer and is not started again: milepost gates" in ended.stderr
    assert sandbox.mileposts() == ["1.2"]
    (asked,) = milepost.waiting_gates(sandbox.repo / "ROADMAP.md")
    assert run(sandbox, "--task", "1.1").code == 1
    (newer,) = milepost.waiting_gates(sandbox.repo / "ROADMAP.md")
    assert newer.run != asked.run, "the newest work is asked about"


@slow
def test_work_that_was_held_is_merged_with_what_came_since_and_a_conflict_is_one_line(sandbox: Sandbox) -> None:
    sandbox.roadmap(ASKED)
    assert run(sandbox).code == 1
    sandbox.write("asked.txt", "another price\n")
    sandbox.commit("In the way")
    refused = asking(sandbox, "approve", "1.1")
    assert refused.code == 1 and "1.1 conflicts with what landed since, in asked.txt" in refused.stderr
    sandbox.git("reset", "--quiet", "--hard", "HEAD^")
    sandbox.write("other.txt", "beside it\n")
    sandbox.commit("Beside it")
    sandbox.write("README.md", "not committed\n")
    landed = asking(sandbox, "approve", "1.1")
    assert landed.code == 0 and "checked again on top of what landed since" in landed.stdout
    assert "your branch was not changed; to merge the milepost:" in landed.stdout
    sandbox.git("checkout", "--", "README.md")
    sandbox.git(*landed.stdout.rpartition("   git ")[2].split())
    assert sandbox.mileposts() == ["1.1"] and (sandbox.repo / "other.txt").exists()


@slow
@pytest.mark.parametrize("command", ["approve", "accept"])
def test_held_before_a_kill_is_held_after_it_and_an_answer_that_was_cut_short_is_finished(
    sandbox: Sandbox, command: str
) -> None:
    sandbox.roadmap(ASKED + CHECKED)
    seen = sandbox.home / "seen"
    lives, ended = 0, run(sandbox, MILEPOST_CHAOS_SEEN=str(seen))
    while ended.code == -signal.SIGKILL:
        lives, ended = lives + 1, asking(sandbox, "resume", MILEPOST_CHAOS_SEEN=str(seen))
    assert ended.code == 1 and lives > 10, ended.stderr
    assert "1 passed · 1 held" in ended.stdout
    (asked,) = milepost.waiting_gates(sandbox.repo / "ROADMAP.md")
    assert asked.gate == "1.1/1/held"

    codes: list[int] = []
    while not codes or codes[-1] == -signal.SIGKILL:
        codes.append(asking(sandbox, command, "1.1", MILEPOST_CHAOS_SEEN=str(seen)).code)
    assert codes[-1] == 0 and codes.count(-signal.SIGKILL) >= 3
    assert sandbox.mileposts() == ["1.2", "1.1"] and (sandbox.repo / "asked.txt").exists()
    status = sandbox.milepost("status", "--json").json["progress"]
    assert status["held"] == [] and status["passed" if command == "approve" else "accepted"][-1] == "1.1"
    assert milepost.waiting_gates(sandbox.repo / "ROADMAP.md") == ()
