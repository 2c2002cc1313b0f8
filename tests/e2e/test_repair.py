"""Repair at the command line: what is done about a failed attempt, and when it is left to a person."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from milepost.engine.commands.service import PROGRAM
from milepost.engine.commands.service_unit import unit_text
from tests import places
from tests.e2e.conftest import Answer, Sandbox
from tests.e2e.test_proof import Act, reasons, scripted, tasks_of, verdicts, write


def acts(answer: Answer) -> list[tuple[str, int]]:
    """The attempts of agents that were started in a run, in their order."""
    return [(event["task"], event["attempt"]) for event in answer.events if event.get("stage") == "act"]


def test_the_same_change_twice_ends_a_task_with_a_diagnosis_and_the_others_go_on(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", "[limits]\nattempts = 5\n")
    sandbox.roadmap(
        "- [ ] T1 Greet\n  - Verify: grep -q hello a.txt\n"
        "- [ ] T2 Twice\n  - Verify: grep -q good b.txt\n"
        "- [ ] T3 After the first\n  - Depends on: T1\n  - Verify: test -f c.txt\n"
    )
    agent = scripted(
        sandbox,
        T1=[[write("a.txt", "goodbye\n")]],
        T2=[[write("b.txt", "bad\n")], [write("b.txt", "good\n")]],
        T3=[[write("c.txt", "c\n")]],
    )
    answer = sandbox.milepost("run", "--agent", agent, "--json", "--parallel", "1")
    ended = tasks_of(answer)
    assert (answer.code, verdicts(answer)) == (1, {"T1": "failed", "T2": "passed", "T3": None}), reasons(answer)
    assert ended["T1"]["attempts"] == 2, "three more were allowed, and would have been in vain"
    assert "attempts 1 and 2 made the same change" in ended["T1"]["proposal"]
    assert "milepost retry T1" in ended["T1"]["proposal"]
    assert "grep -q hello a.txt" in ended["T1"]["reason"]
    assert ended["T3"]["reason"] == "waits for T1"

    found = sandbox.milepost("failures", "--json").json
    assert sum(one["count"] for one in found) == 3
    assert all(one["class"] and one["signature"] and one["last_seen"] > 0 for one in found)
    mended = [one for one in found if one["mended_by"]]
    assert [one["mended_by"] for one in mended] == [[{"by": agent, "times": 1}]], "T2 was, T1 was not"
    told = sandbox.milepost("failures").stdout
    assert mended[0]["class"] in told and "fixed by" in told


@pytest.mark.parametrize("mode", ["no-adapt", "suggest"])
def test_a_run_that_may_not_adapt_makes_one_attempt(sandbox: Sandbox, mode: str) -> None:
    sandbox.write("milepost.toml", f'[repair]\nfallback = ["{sandbox.agent}"]\n')
    sandbox.roadmap("- [ ] T1 Twice\n  - Verify: grep -q good b.txt\n")
    agent = scripted(sandbox, T1=[[write("b.txt", "bad\n")], [write("b.txt", "good\n")]])
    answer = sandbox.milepost("run", "--agent", agent, "--json", "--adaptive-mode", mode)
    (task,) = tasks_of(answer).values()
    assert (task["verdict"], task["attempts"]) == ("failed", 1), reasons(answer)
    assert ("milepost retry T1" in task["proposal"]) == (mode == "suggest"), task["proposal"]


def test_another_agent_takes_over_and_its_milepost_names_it(sandbox: Sandbox) -> None:
    second = scripted(sandbox, "second", T1=[[write("a.txt", "hello\n")]])
    sandbox.write("milepost.toml", f'[repair]\nfallback = ["{second}"]\n')
    sandbox.roadmap("- [ ] T1 Greet\n  - Verify: grep -q hello a.txt\n")
    first = scripted(sandbox, "first", T1=[[write("a.txt", "goodbye\n")]])
    answer = sandbox.milepost("run", "--agent", first, "--json")
    (task,) = tasks_of(answer).values()
    assert (task["verdict"], task["attempts"]) == ("passed", 3), reasons(answer)
    trailers = sandbox.git("log", "-1", "--format=%(trailers:key=Milepost-Agent,valueonly)").strip()
    assert trailers == second
    assert sandbox.milepost("failures", "--json").json[0]["mended_by"] == [{"by": second, "times": 2}]
    tried = [event["agent"] for event in answer.events if event["event"] == "attempt_finished"]
    assert tried == [first, first, second]


LIMITED: list[Act] = [["say", "busy"], ["limited", 1]]


def test_a_service_at_its_limit_is_waited_for_and_burns_no_attempt(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.roadmap("- [ ] T1 Greet\n  - Verify: grep -q hello a.txt\n")
    agent = scripted(sandbox, T1=[LIMITED, LIMITED, [write("a.txt", "hello\n")]])
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    (task,) = tasks_of(answer).values()
    assert (task["verdict"], task["attempts"]) == ("passed", 1), reasons(answer)
    waits = [event for event in answer.events if event["event"] == "service_waits"]
    assert [(one["task"], one["what"], one["stated"]) for one in waits] == [("T1", "busy", True)] * 2
    assert sandbox.mileposts() == ["T1"]


USES = "from shapes import area\n\n\ndef double(side):\n    return 2 * area(side)\n"


def test_a_task_that_lacks_what_a_later_one_makes_waits_for_it(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        "- [ ] T1 Double\n  - Files: double.py\n  - Verify: python3 -c 'from double import double; double(2)'\n"
        "- [ ] T2 Shapes\n  - Files: shapes.py\n  - Verify: python3 -c 'from shapes import area; area(2)'\n"
    )
    agent = scripted(
        sandbox,
        T1=[[write("double.py", USES)]],
        T2=[[write("shapes.py", "def area(side):\n    return side * side\n")]],
    )
    answer = sandbox.milepost("run", "--agent", agent, "--json", "--parallel", "1")
    assert answer.code == 0, reasons(answer)
    assert acts(answer) == [("T1", 1), ("T2", 1), ("T1", 2)]
    assert sandbox.mileposts() == ["T2", "T1"]


PARTS = (
    "- [ ] T1 Build the house\n"
    "  - [ ] T1.1 The walls\n    - Files: walls.txt\n    - Verify: grep -q brick walls.txt\n"
    "  - [ ] T1.2 The roof\n    - Files: roof.txt\n    - Verify: grep -q tile roof.txt\n"
    "- [ ] T2 Move in\n  - Depends on: T1\n  - Verify: test -f walls.txt -a -f roof.txt -a -f bed.txt\n"
)


def builders(sandbox: Sandbox) -> str:
    sandbox.write("milepost.toml", "[limits]\ntask_timeout_s = 6\n")
    sandbox.roadmap(PARTS)
    return scripted(
        sandbox,
        T1=[[["sleep", 600]]],
        **{"T1.1": [[write("walls.txt", "brick\n")]], "T1.2": [[write("roof.txt", "tile\n")]]},
        T2=[[write("bed.txt", "bed\n")]],
    )


def test_a_task_that_is_too_large_is_done_in_parts_also_when_the_run_is_killed_on_the_way(
    make_sandbox: Callable[[], Sandbox],
) -> None:
    calm, killed = make_sandbox(), make_sandbox()
    answer = calm.milepost("run", "--agent", builders(calm), "--json")
    assert answer.code == 0, reasons(answer)
    assert calm.mileposts() == ["T1.1", "T1.2", "T1", "T2"]
    assert (calm.repo / "ROADMAP.md").read_text() == PARTS.replace("[ ]", "[x]")
    first = calm.git("rev-list", "--reverse", "HEAD").splitlines()[2]
    assert calm.git("show", f"{first}:ROADMAP.md").count("[x]") == 1, "a part ticks its own box"
    for task in ("T1.2", "T1"):
        again = calm.milepost("verify", task, "--replay")
        assert again.code == 0, again.stdout + again.stderr

    agent = builders(killed)
    kill_when(killed, agent, lambda event: event.get("stage") == "act" and event["task"] == "T1.2")
    kill_when(killed, agent, lambda event: event.get("stage") == "verify" and event["task"] in ("T1", "T2"))
    end = killed.milepost("resume", "--json")
    assert end.code == 0, reasons(end)
    assert killed.mileposts() == calm.mileposts()
    assert killed.git("rev-parse", "HEAD^{tree}") == calm.git("rev-parse", "HEAD^{tree}")


def kill_when(sandbox: Sandbox, agent: str, due: Callable[[dict[str, Any]], bool]) -> None:
    """Start or go on with a run, and kill it with all that it started at the first event that is due."""
    process = sandbox.start("run", "--agent", agent, "--json")
    assert process.stdout is not None
    for line in process.stdout:
        if due(json.loads(line)):
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return
    raise AssertionError(f"the run was over before it was due: {process.communicate()}")


def restart_machine(sandbox: Sandbox) -> None:
    """Make what the run noted be of an earlier start of the machine."""
    (note,) = (sandbox.home / ".local/state/milepost/open-runs").glob("*.json")
    note.write_text(json.dumps(json.loads(note.read_text()) | {"boot": "an earlier one"}))


def test_a_run_killed_with_its_machine_while_it_waits_for_a_service_is_continued_by_what_the_unit_starts(
    sandbox: Sandbox,
) -> None:
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.roadmap("- [ ] T1 Greet\n  - Verify: grep -q hello a.txt\n")
    agent = scripted(sandbox, T1=[[write("b.txt", "kept\n"), ["limited", 5]], [write("a.txt", "hello\n")]])
    kill_when(sandbox, agent, lambda event: event["event"] == "service_waits")
    started = next(line for line in unit_text(PROGRAM, {}).splitlines() if line.startswith("ExecStart="))
    words = shlex.split(started.removeprefix("ExecStart="))[len(PROGRAM) :]
    assert "nothing to continue" in sandbox.milepost(*words).stderr, "it may have been killed on purpose"
    (interrupted,) = sandbox.milepost("service", "status", "--json").json["interrupted"]
    assert interrupted["goes_on_at"] and not interrupted["after_restart"]

    restart_machine(sandbox)
    answer = sandbox.milepost(*words)
    assert f"continuing run {interrupted['run']}" in answer.stderr
    ends = [json.loads(line) for line in sandbox.milepost("events", "--json").stdout.splitlines()]
    (task,) = (end for end in ends if end["event"] == "task_finished")
    assert (answer.code, task["verdict"], task["attempts"]) == (0, "passed", 1), answer.stderr
    (resumed,) = (end for end in ends if end["event"] == "run_resumed")
    assert resumed["at"] >= interrupted["goes_on_at"], "it was asked before its service could be"
    assert sandbox.git("show", "HEAD:b.txt") == "kept", "what it did before the wait is not done again"
    assert sandbox.mileposts() == ["T1"]
    assert sandbox.milepost("service", "status", "--json").json["interrupted"] == []


def test_a_run_that_waits_for_a_service_can_be_stopped(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] T1 Greet\n  - Verify: grep -q hello a.txt\n")
    agent = scripted(sandbox, T1=[[["limited", 6000]]])
    process = sandbox.start("run", "--agent", agent, "--json")
    assert process.stdout is not None
    while json.loads(process.stdout.readline())["event"] != "service_waits":
        pass
    assert sandbox.milepost("stop").code == 0
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert sandbox.milepost("status", "--json").json["state"] == "interrupted"
    assert sandbox.milepost("service", "status", "--json").json["interrupted"] == [], "a person stopped it"


def test_a_run_killed_while_a_recipe_is_at_work_ends_as_if_it_had_not_been(sandbox: Sandbox) -> None:
    sandbox.write("calc.py", "def add(a, b):\n    return a + b\n")
    sandbox.roadmap("- [ ] T1 Twice\n  - Files: twice.py\n  - Verify: python3 -c 'import twice; twice.twice(2)'\n")
    fenced = "```python\nfrom calc import add\n\n\ndef twice(n):\n    return add(n, n)\n```\n"
    agent = scripted(sandbox, T1=[[write("twice.py", fenced)]])
    process = sandbox.start("run", "--agent", agent)
    while not any((sandbox.home / ".cache/milepost").glob("*/*-T1-mend*")):
        assert process.poll() is None, "no recipe was tried: " + str(process.communicate())
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert sandbox.mileposts(run_branch(sandbox)) == []
    answer = sandbox.milepost("resume", "--json")
    (task,) = tasks_of(answer).values()
    assert (task["verdict"], task["attempts"], acts(answer)) == ("passed", 2, []), reasons(answer)
    assert sandbox.mileposts() == ["T1"]
    assert "```" not in (sandbox.repo / "twice.py").read_text()
    assert sandbox.git("log", "-1", "--format=%(trailers:key=Milepost-Agent,valueonly)").startswith("recipe:")


def run_branch(sandbox: Sandbox) -> str:
    return sandbox.git("branch", "--list", "--format=%(refname:short)", "milepost/*")


DIFFING = """\
import json, os, sys

assignment = json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))
assert assignment["attempt"] == 1 or "unified diff" in assignment["text"], assignment["text"]
value = 4 if assignment["attempt"] == 1 else 5
print("I would change this:\\n\\n```diff")
print("--- a/calc.py\\n+++ b/calc.py\\n@@ -1,2 +1,2 @@\\n def five():\\n-    return 0\\n+    return %d" % value)
print("```")
"""


def test_an_agent_that_only_prints_a_diff_has_it_applied_and_is_asked_for_another(sandbox: Sandbox) -> None:
    agent = sandbox.home / "diffing.py"
    agent.write_text(DIFFING)
    sandbox.write("calc.py", "def five():\n    return 0\n")
    verify = 'python3 -c "from calc import five; assert five() == 5, five()"'
    sandbox.roadmap(f"- [ ] T1 Five\n  - Files: calc.py\n  - Verify: `{verify}`\n")
    answer = sandbox.milepost("run", "--agent", f"command:{sys.executable} {agent}", "--json")
    assert verdicts(answer) == {"T1": "passed"}, reasons(answer)
    assert tasks_of(answer)["T1"]["attempts"] == 2
    assert sandbox.git("show", "HEAD:calc.py") == "def five():\n    return 5"
    with sqlite3.connect(places.database(sandbox.repo)) as database:
        rows = database.execute(
            "select attempt, state from patch_moves join patches on patch = id order by 1, position"
        )
        lives: dict[int, list[str]] = {}
        for attempt, state in rows:
            lives.setdefault(attempt, []).append(state)
    database.close()
    assert lives == {
        1: ["created", "validated", "applied", "failed"],
        2: ["created", "validated", "applied", "verified", "committed"],
    }
