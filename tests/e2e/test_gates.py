"""People decide: a run that asks waits for them, over days and crashes, and does what they say."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import milepost
from milepost import gates
from tests.e2e.conftest import Answer, Sandbox
from tests.slow import slow

# Writes what it was told was wrong into told.txt, and `done.txt` always.
LISTENING = """
import json, os, pathlib
assignment = json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))
pathlib.Path("done.txt").write_text(f"attempt {assignment['attempt']}\\n")
pathlib.Path("told.txt").write_text("\\n".join(assignment["evidence"]) + "\\n")
"""


def wait_until(holds: Callable[[], Any]) -> Any:
    until = time.monotonic() + 90
    while not (found := holds()):
        assert time.monotonic() < until, "it never came"
        time.sleep(0.1)
    return found


def waiting(sandbox: Sandbox) -> tuple[gates.Gate, ...]:
    return milepost.waiting_gates(sandbox.repo / "ROADMAP.md")


def pasted(sandbox: Sandbox, command: str) -> Answer:
    """What comes of a command as it was printed."""
    program, *words = shlex.split(command)
    assert program == "milepost"
    return sandbox.milepost(*words)


def test_a_dependency_that_an_attempt_adds_is_asked_about_before_it_lands(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", '[verify]\nenvironment = "own"\n')
    text = "- [ ] 1.1 Pad\n  - write requirements.txt left-pad==1.0\n  - Verify: grep -q left requirements.txt\n"
    sandbox.roadmap(text)
    parked = sandbox.run("--approve", "risky")
    assert parked.code == 1, parked.stdout
    (asked,) = waiting(sandbox)
    assert "It adds a dependency: left-pad==1.0 in requirements.txt." in asked.question
    assert sandbox.mileposts() == []


def test_each_task_waits_for_a_yes_before_it_begins_and_before_it_lands(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Write a\n  - write a.txt hello\n  - Verify: test -f a.txt\n")
    parked = sandbox.run("--approve", "each")
    assert parked.code == 1
    assert "waits for you" in parked.stdout and "milepost approve 1.1" in parked.stdout
    (asked,) = waiting(sandbox)
    assert (asked.kind, asked.gate) == ("before", "1.1/before") and "Write a" in asked.shown
    still = sandbox.milepost("resume")
    assert still.code == 1 and "milepost approve 1.1" in still.stdout, "nobody has answered"
    assert "milepost resume" in sandbox.milepost("approve").stdout
    assert sandbox.milepost("resume").code == 1
    (told,) = sandbox.milepost("gates", "--json").json
    assert told["gate"] == "1.1/1/after" and "+hello" in told["shown"]
    assert sandbox.mileposts() == [] and not (sandbox.repo / "a.txt").exists()

    seen = sandbox.milepost("gates").stdout
    assert "│ +hello" in seen and told["commands"]["approve"] in seen
    wrong = sandbox.milepost("approve", "1.1", "--digest", "0123456789ab")
    assert wrong.code == 1 and "has changed since it was shown" in wrong.stderr
    assert pasted(sandbox, told["commands"]["approve"]).code == 0
    assert sandbox.milepost("reject", "1.1", "--reason", "late").code == 1, "an answer stands"
    done = sandbox.milepost("resume", "--json")
    assert done.code == 0, done.stdout
    assert sandbox.mileposts() == ["1.1"] and (sandbox.repo / "a.txt").read_text() == "hello\n"
    assert waiting(sandbox) == ()
    assert [event["answer"] for event in done.events if event["event"] == "gate_answered"] == ["approve"]


@slow
def test_a_refusal_goes_to_the_agent_which_tries_again(sandbox: Sandbox) -> None:
    program = sandbox.home / "listening.py"
    program.write_text(LISTENING)
    sandbox.roadmap("- [ ] 1.1 Do it\n  - Approve: after\n  - Verify: test -f done.txt\n")
    assert sandbox.milepost("run", "--agent", f"command:{sys.executable} {program}").code == 1
    assert sandbox.milepost("reject", "1.1", "--reason", "say it in French").code == 0
    assert sandbox.milepost("resume").code == 1
    (asked,) = waiting(sandbox)
    assert asked.gate == "1.1/2/after"
    assert "+attempt 2" in asked.shown and "say it in French" in asked.shown
    assert sandbox.milepost("approve", "1.1").code == 0
    assert sandbox.milepost("resume").code == 0
    assert (sandbox.repo / "done.txt").read_text() == "attempt 2\n"


@slow
def test_what_a_task_says_about_asking_goes_before_the_rule_of_the_run(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        "- [ ] 1.1 Free\n  - write free.txt x\n  - Verify: test -f free.txt\n"
        "- [ ] 1.2 Edited\n  - write e.txt x\n  - Approve: before\n  - Verify: test -f extra.txt\n"
        "- [ ] 1.3 Left out\n  - write left.txt x\n  - Approve: after\n  - Verify: test -f left.txt\n"
        "- [ ] 1.4 Refused\n  - write no.txt x\n  - Approve: before\n"
    )
    parked = sandbox.run("--json")
    assert parked.code == 1
    assert sorted(parked.events[-1]["waits_for"]) == ["1.2", "1.3", "1.4"]
    branch = f"milepost/{parked.events[-1]['run']}"
    assert sandbox.mileposts(branch) == ["1.1"]
    assert sandbox.milepost("approve").code == 2, "three wait"
    assert sandbox.milepost("edit", "1.2", "--text", "- write extra.txt more").code == 0
    assert sandbox.milepost("skip", "1.3", "--reason", "not this week").code == 0
    assert sandbox.milepost("reject", "1.4", "--reason", "not at all").code == 0
    ended = sandbox.milepost("resume", "--json")
    assert ended.code == 1
    tasks = {task["id"]: task for task in ended.events[-1]["tasks"]}
    assert [name for name, task in tasks.items() if task["verdict"] == "passed"] == ["1.1", "1.2"]
    assert (sandbox.repo / "extra.txt").read_text() == "more\n"
    assert "skipped by a person: not this week" in tasks["1.3"]["reason"]
    assert "refused by a person: not at all" in tasks["1.4"]["reason"] and tasks["1.4"]["attempts"] == 0
    kept = sandbox.git("show", f"refs/{branch}/1.3/1:left.txt")
    assert kept == "x", "its work is kept"


@slow
def test_only_what_is_risky_is_asked_about_and_another_agent_may_do_it(sandbox: Sandbox) -> None:
    other = sandbox.home / "listening.py"
    other.write_text(LISTENING)
    sandbox.roadmap(
        "- [ ] 1.1 Add a page\n  - write page.txt x\n  - Verify: test -f page.txt\n"
        "- [ ] 1.2 Pack it\n  - write compose.yaml x\n  - Verify: test -f compose.yaml -o -f done.txt\n"
    )
    parked = sandbox.run("--approve", "risky", "--json")
    assert (parked.code, parked.events[-1]["waits_for"]) == (1, ["1.2"])
    (asked,) = waiting(sandbox)
    assert "changes what runs in containers: compose.yaml" in asked.question
    assert sandbox.milepost("delegate", "1.2", "--agent", "nobody").code == 2
    assert sandbox.milepost("delegate", "1.2", "--agent", f"command:{sys.executable} {other}").code == 0
    assert sandbox.milepost("resume").code == 0
    assert (sandbox.repo / "done.txt").exists() and not (sandbox.repo / "compose.yaml").exists()


def test_a_destructive_command_runs_only_when_a_person_lets_it(sandbox: Sandbox) -> None:
    """The first is refused, the second allowed; what was done before them is not done again."""
    undo = "cp README.md {} && git checkout -- ."
    calls: list[tuple[str, dict[str, Any]]] = [
        ("write_file", {"path": "README.md", "content": "changed\n"}),
        ("execute", {"argv": ["bash", "-c", undo.format("first.txt")]}),
        ("execute", {"argv": ["cp", "README.md", "between.txt"]}),
        ("execute", {"argv": ["bash", "-c", undo.format("second.txt")]}),
        ("write_file", {"path": "end.txt", "content": "end\n"}),
    ]
    said: list[dict[str, Any]] = [{"calls": [{"name": name, "arguments": words}]} for name, words in calls]
    cassette = sandbox.home / "cassette.json"
    cassette.write_text(json.dumps({"version": 1, "answers": {"1.1": [[*said, {"text": "Done."}]]}}))
    sandbox.roadmap("- [ ] 1.1 Try it\n  - Verify: test -f end.txt\n")
    parked = sandbox.milepost("run", "--agent", f"replay:{cassette}", "--approve", "risky", "--json")
    assert parked.code == 1, parked.stderr
    (asked,) = waiting(sandbox)
    assert asked.kind == "destructive" and "git checkout -- ." in asked.shown
    assert "discards uncommitted work" in asked.question
    assert sandbox.milepost("reject", "1.1", "--reason", "keep it").code == 0
    assert sandbox.milepost("resume").code == 1
    assert sandbox.milepost("approve").code == 0
    done = sandbox.milepost("resume", "--json")
    assert done.code == 0, done.stdout
    read = {path.name: path.read_text() for path in sandbox.repo.glob("*.txt")}
    assert read == {"between.txt": "changed\n", "second.txt": "changed\n", "end.txt": "end\n"}
    assert (sandbox.repo / "README.md").read_text() == "A project\n"
    used = [event["summary"] for event in done.events if event["event"] == "tool_used"]
    assert len(used) == 2 and used[-1] == "writing end.txt"


@slow
def test_an_answer_reaches_a_run_that_waits_and_one_whose_process_was_killed(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Write a\n  - write a.txt hello\n  - Approve: each\n  - Verify: test -f a.txt\n")
    with watched(sandbox, "run", "--agent", sandbox.agent):
        wait_until(lambda: waiting(sandbox))
    assert "milepost resume" in sandbox.milepost("approve").stdout, "nothing runs"
    with watched(sandbox, "resume") as process:
        wait_until(lambda: [gate for gate in waiting(sandbox) if gate.kind == "after"])
        assert "the run continues" in sandbox.milepost("approve", "1.1").stdout
        assert process.wait(90) == 0
    assert sandbox.mileposts() == ["1.1"]


@contextmanager
def watched(sandbox: Sandbox, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run at whose terminal somebody sits: it waits for them. At the end it is killed, if it is still there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        sandbox.argv(*words),
        cwd=sandbox.repo,
        env={**sandbox.environment, "TERM": "dumb"},
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    reader = threading.Thread(target=read_all, args=(ours,))
    reader.start()
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join(60)
        os.close(ours)


def read_all(terminal: int) -> None:
    """Read what is written to a terminal until nobody has it any more, so that nobody waits to write."""
    with suppress(OSError):
        while os.read(terminal, 4096):
            pass


def test_a_command_that_nobody_approved_is_not_run_by_whom_the_task_is_handed_to(sandbox: Sandbox) -> None:
    calls = [
        {"name": "write_file", "arguments": {"path": "README.md", "content": "changed\n"}},
        {"name": "execute", "arguments": {"argv": ["bash", "-c", "cp README.md ran.txt && git checkout -- ."]}},
        {"name": "write_file", "arguments": {"path": "end.txt", "content": "end\n"}},
    ]
    answers = [*({"calls": [call]} for call in calls), {"text": "Done."}]
    for name in ("one", "other"):
        cassette = {"version": 1, "answers": {"1.1": [answers]}}
        (sandbox.home / f"{name}.json").write_text(json.dumps(cassette))
    sandbox.roadmap("- [ ] 1.1 Try it\n  - Verify: test -f end.txt\n")
    parked = sandbox.milepost("run", "--agent", f"replay:{sandbox.home}/one.json", "--approve", "risky")
    assert parked.code == 1, parked.stderr
    assert sandbox.milepost("delegate", "1.1", "--agent", f"replay:{sandbox.home}/other.json").code == 0
    sandbox.milepost("resume")
    assert sandbox.mileposts() == ["1.1"]
    assert not (sandbox.repo / "ran.txt").exists()
