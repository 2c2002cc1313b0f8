"""Runs that are recorded, played again, and compared with what they were."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

from tests import places
from tests.e2e.conftest import Sandbox
from tests.e2e.test_together import wait_for
from tests.fakes.model_server import ModelServer


def writing(name: str, text: str) -> list[dict[str, Any]]:
    call = {"name": "write_file", "arguments": {"path": name, "content": text}}
    return [{"text": f"I write {name}.", "calls": [call]}, {"text": "Done."}]


ROADMAP = (
    "- [ ] 1.1 Write one\n  - Verify: `grep -qx 1 one.txt`\n- [ ] 1.2 Write two\n  - Verify: `grep -qx 2 two.txt`\n"
)
TASKS = {"1.1": [writing("one.txt", "1\n")], "1.2": [writing("two.txt", "wrong\n"), writing("two.txt", "2\n")]}


def trees(machine: Sandbox, ref: str = "HEAD") -> list[str]:
    return machine.git("log", "--format=%T", ref).split()


def copy_of(machine: Sandbox, start: str, tmp_path: Path) -> Sandbox:
    """The same machine as it was at a commit, with no memory of any run."""
    copy = Sandbox(home=machine.home, repo=tmp_path / "copy", agent=machine.agent)
    shutil.copytree(machine.repo, copy.repo)
    shutil.rmtree(places.state(copy.repo), ignore_errors=True)
    copy.git("reset", "--hard", "--quiet", start)
    return copy


def test_what_a_model_answered_is_recorded_without_secrets_and_plays_to_the_same_trees(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    key = "sk-proj-0123456789abcdefghijklmnopqrstuv"
    tasks = {**TASKS, "1.1": [[{**TASKS["1.1"][0][0], "text": f"The key is {key}."}, {"text": "Done."}]]}
    tape = tmp_path / "tape.json"
    with ModelServer({"tasks": tasks}, tmp_path / "log") as server:
        sandbox.write("milepost.toml", server.settings())
        sandbox.roadmap(ROADMAP)
        start = sandbox.git("rev-parse", "HEAD")
        answer = sandbox.milepost(
            "run", "--agent", "tool", "--parallel", "1", "--record", str(tape), OPENAI_API_KEY=key
        )
        assert answer.code == 0, answer.stderr
    recorded = json.loads(tape.read_text())
    assert key not in tape.read_text()
    assert recorded["version"] == 2
    assert [len(attempt["answers"]) for attempt in recorded["tasks"]["1.2"]] == [2, 2]
    assert recorded["tasks"]["1.1"][0]["answers"][1] == {
        "text": "Done.",
        "model": "openai:scripted-1",
        "cost_usd": 0.0011,
        "input_tokens": 1000,
        "output_tokens": 100,
    }

    copy = copy_of(sandbox, start, tmp_path)
    again = copy.milepost("run", "--agent", f"replay:{tape}", "--parallel", "1", "--json")
    assert again.code == 0, again.stderr
    assert trees(copy) == trees(sandbox)
    assert [task["attempts"] for task in again.events[-1]["tasks"]] == [1, 2]


def test_a_run_of_programs_is_recorded_as_what_they_changed_and_replayed_in_a_clone(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """Two at a time, of which the first waits for the second: what landed first lands first again."""
    sandbox.write("old.txt", "old\n")
    (sandbox.repo / "picture.bin").write_bytes(bytes(range(256)))
    (sandbox.repo / "latin.txt").write_bytes("caf\xe9\n".encode("latin-1"))
    sandbox.roadmap(
        "- [ ] 1.1 Slow\n  - wait\n  - write a.txt a\n  - append latin.txt more\n  - Verify: grep -q a a.txt\n"
        "- [ ] 1.2 Twice\n  - fail-first\n  - write sub/b.txt good\n  - Verify: grep good sub/b.txt\n"
        "- [ ] 1.3 Never\n  - write c.txt c\n  - Verify: false\n"
    )
    tape = tmp_path / "tape.json"
    words = ("run", "--agent", sandbox.agent, "--parallel", "2", "--record", str(tape), "--json")
    with sandbox.start(*words) as process:
        assert process.stdout is not None
        landed: list[str] = []
        for line in process.stdout:
            last = json.loads(line)
            if last["event"] == "milepost_made":
                landed.append(last["task"])
                sandbox.let_go()
    assert (process.returncode, landed) == (1, ["1.2", "1.1"])
    run = last["run"]
    kinds = {
        task: [sorted(one) for one in attempts] for task, attempts in json.loads(tape.read_text())["tasks"].items()
    }
    assert kinds["1.1"] == [["diff_base64", "outcome", "said"]], "a line that is no text is kept, too"
    assert kinds["1.2"] == [["diff", "outcome", "said"]] * 2
    before = sandbox.git("for-each-ref"), sandbox.git("status", "--porcelain", "--ignored"), sandbox.git("log")

    Path(sandbox.agent.split()[-1]).unlink()
    replayed = sandbox.milepost("replay", run, "--json")
    assert replayed.code == 0, replayed.stdout + replayed.stderr
    last = replayed.events[-1]
    assert (last["same"], last["folder"], [task["same"] for task in last["tasks"]]) == (True, None, [True] * 3)
    assert [task["found"] != "" for task in last["tasks"]] == [True, True, False]
    assert [event["task"] for event in replayed.events if event["event"] == "milepost_made"] == landed
    assert (
        sandbox.git("for-each-ref"),
        sandbox.git("status", "--porcelain", "--ignored"),
        sandbox.git("log"),
    ) == before

    people = sandbox.milepost("replay", run, "--task", "1.2", "--folder", str(tmp_path / "clone"))
    assert people.code == 0, people.stderr
    assert f"1 of 1 task gave the same tree as in run {run}" in people.stdout
    assert (tmp_path / "clone/repository/sub/b.txt").read_text() == "good\n"


def test_an_interrupted_run_is_recorded_as_far_as_it_came_and_whole_when_it_goes_on(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    fault = {"kind": "hang", "seconds": 60, "task": "1.2", "answer": 2}
    tape = tmp_path / "tape.json"
    with ModelServer({"tasks": TASKS, "faults": [fault]}, tmp_path / "log") as server:
        sandbox.write("milepost.toml", server.settings())
        sandbox.roadmap(ROADMAP)
        with sandbox.start("run", "--agent", "tool", "--parallel", "1", "--record", str(tape)) as run:
            deadline = time.monotonic() + 120
            while not any((one.task, one.answer) == ("1.2", 2) for one in server.questions):
                assert time.monotonic() < deadline and run.poll() is None
                time.sleep(0.05)
            os.kill(run.pid, signal.SIGINT)
            wait_for(run, {"stopping after the running steps"})
            os.kill(run.pid, signal.SIGINT)  # the second time at once
            run.communicate(timeout=60)
        assert run.returncode == 130
        half = json.loads(tape.read_text())["tasks"]
        assert [len(half[task][0]["answers"]) for task in ("1.1", "1.2")] == [2, 1]
        unfinished = sandbox.milepost(
            "replay", sandbox.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/milepost")
        )
        assert unfinished.code == 1 and "is unfinished, and only finished runs can be replayed" in unfinished.stderr

        assert sandbox.milepost("resume", "--record", str(tape)).code == 0
    whole = json.loads(tape.read_text())["tasks"]
    assert [len(attempt["answers"]) for attempt in whole["1.2"]] == [2, 2]
    assert half["1.1"] == whole["1.1"]


def test_a_replay_says_where_it_came_to_something_else_and_what_is_gone(sandbox: Sandbox, tmp_path: Path) -> None:
    argv = ["sh", "-c", "head -c 8 /dev/urandom | od -An -tx1 > luck.txt; echo 1 > one.txt"]
    answers = [{"calls": [{"name": "execute", "arguments": {"argv": argv}}]}, {"text": "Done."}]
    tape = tmp_path / "tape.json"
    tape.write_text(json.dumps({"version": 1, "answers": {"1.1": [answers], "1.2": [writing("two.txt", "2\n")]}}))
    sandbox.roadmap(ROADMAP)
    answer = sandbox.milepost("run", "--agent", f"replay:{tape}", "--json", "--parallel", "1")
    assert answer.code == 0, answer.stderr
    run = answer.events[-1]["run"]

    differs = sandbox.milepost("replay", run)
    assert differs.code == 1, differs.stderr
    assert "0 of 2 tasks gave the same tree" in differs.stdout and "differs: luck.txt" in differs.stdout
    clone = Path(differs.stdout.rpartition("the clone is in ")[2].strip())
    assert (clone / "luck.txt").is_file() and sandbox.home in clone.parents

    unknown = sandbox.milepost("replay", run, "--task", "7")
    assert (unknown.code, unknown.stderr.splitlines()[0]) == (2, f"error: run {run} has no task '7'")
    full = sandbox.milepost("replay", run, "--folder", str(sandbox.repo))
    assert full.code == 2 and "is not empty" in full.stderr
    with sqlite3.connect(places.database(sandbox.repo)) as database:
        database.execute("delete from calls where task = '1.1'")
        database.execute("delete from attempt_notes where task = '1.1'")
    database.close()
    gone = sandbox.milepost("replay", run)
    assert (gone.code, "the recorded steps were deleted for 1.1 attempt 1" in gone.stderr) == (1, True)
    assert sandbox.milepost("replay", run, "--task", "1.2").code == 0
    place = sandbox.milepost("run", "--agent", f"replay:{tape}", "--record", str(tmp_path / "no/where"))
    assert place.code == 2 and "the recording cannot be written to" in place.stderr


def test_what_people_answered_is_answered_again(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Write\n  - write a.txt a\n  - Verify: grep -q a a.txt\n")
    assert sandbox.run("--approve", "each").code == 1
    assert sandbox.milepost("approve", "1.1").code == 0
    assert sandbox.milepost("resume").code == 1
    assert sandbox.milepost("reject", "1.1", "--reason", "again, please").code == 0
    assert sandbox.milepost("resume").code == 1
    assert sandbox.milepost("approve", "1.1").code == 0
    assert sandbox.milepost("resume").code == 0
    run = sandbox.milepost("status", "--json").json["run"]

    replayed = sandbox.milepost("replay", run, "--json")

    assert replayed.code == 0, replayed.stdout + replayed.stderr
    answers = [event["answer"] for event in replayed.events if event["event"] == "gate_answered"]
    assert answers == ["approve", "reject", "approve"]
