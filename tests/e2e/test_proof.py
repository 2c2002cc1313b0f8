"""Proof at the command line: what is asked of a result, what is kept of the answer, and whether it still holds."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from typing import Any

from tests import places
from tests.e2e.conftest import Answer, Sandbox
from tests.e2e.test_chaos import wait_until
from tests.slow import slow

Act = list[Any]

SCRIPTED = '''\
"""Does what is written for each attempt at a task and after each wait for a service; then the last entry goes on."""
import json, os, pathlib, sys, time

assignment = json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))
attempts = json.loads(ATTEMPTS).get(assignment["task"]) or [[]]
waits = int(os.environ.get("MILEPOST_SESSION", 0))
for act, *words in attempts[min(assignment["attempt"] + waits, len(attempts)) - 1]:
    if act == "write":
        path = pathlib.Path(words[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words[1])
    elif act == "say":
        print(words[0], flush=True)
    elif act == "sleep":
        time.sleep(words[0])
    elif act == "exit":
        sys.exit(words[0])
    elif act == "limited":
        print(json.dumps({"session": str(waits + 1)}), json.dumps({"retry_after_s": words[0]}), sep="\\n", flush=True)
        sys.exit(75)
    elif act == "tell-key":
        print("the key is", os.environ["SHOP_API_KEY"], flush=True)
        pathlib.Path(words[0]).write_text(os.environ["SHOP_API_KEY"][::-1])
'''


def scripted(sandbox: Sandbox, name: str = "scripted", /, **attempts: list[list[Act]]) -> str:
    """An agent that does these acts: `T1=[[…], […]]` are two attempts at task T1."""
    path = sandbox.home.parent / "agent" / f"{name}.py"
    path.write_text(SCRIPTED.replace("ATTEMPTS", repr(json.dumps(attempts))))
    return f"command:{sys.executable} {path}"


def write(path: str, text: str) -> Act:
    return ["write", path, text]


def tasks_of(answer: Answer) -> dict[str, dict[str, Any]]:
    """How each task of a run ended."""
    assert answer.stdout, answer.stderr
    return {task["id"]: task for task in answer.events[-1]["tasks"]}


def verdicts(answer: Answer) -> dict[str, str]:
    return {name: task["verdict"] for name, task in tasks_of(answer).items()}


def reasons(answer: Answer) -> str:
    """Why each attempt ended as it did, for whoever reads a failed test."""
    return "\n".join(
        f"{e['task']}/{e['attempt']} {e['reason']}" for e in answer.events if "reason" in e and "attempt" in e
    )


ADD = "def add(a, b):\n    return a {} b\n"
TEST_ADD = """\
import unittest

from calc import add


class Add(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)
"""
TWO_TASKS = "- [ ] T1 Mend add\n  - Files: calc.py\n- [ ] T2 Greet\n  - Verify: grep -q hello greeting.txt\n"


def test_a_milepost_is_proven_again_and_every_other_note_is_refused(sandbox: Sandbox) -> None:
    sandbox.write("calc.py", ADD.format("-"))
    sandbox.write("test_calc.py", TEST_ADD)
    sandbox.roadmap(TWO_TASKS)
    agent = scripted(sandbox, T1=[[write("calc.py", ADD.format("+"))]], T2=[[write("greeting.txt", "hello\n")]])
    assert sandbox.milepost("run", "--agent", agent, "--parallel", "1").code == 0
    first, second = sandbox.git("rev-list", "-2", "--reverse", "HEAD").splitlines()
    honest = sandbox.git("notes", "--ref=milepost", "show", first)
    trailer = sandbox.git("log", "-1", "--format=%(trailers:key=Milepost-Evidence,valueonly)", first)
    assert trailer.startswith("sha256:")

    again = sandbox.milepost("verify", "T1", "--replay")
    assert (again.code, again.stdout.rstrip().splitlines()[-1]) == (0, "the same"), again.stdout

    def annotate(note: str) -> None:
        sandbox.write("../note", note)
        sandbox.git("notes", "--ref=milepost", "add", "--force", "--file", "../note", first)

    edited = json.loads(honest)
    tests = next(check for check in edited["evidence"]["checks"] if check["name"].startswith("tests"))
    tests["cases"].append({"id": "test_calc.Add.test_more", "outcome": "passed"})
    annotate(json.dumps(edited))
    replayed = sandbox.milepost("verify", "T1", "--replay", "--json")
    assert (replayed.code, replayed.json["same"], replayed.json["verdict"]) == (1, False, "passed")
    assert "edited" in replayed.json["note"]
    assert any("test_more" in check["difference"] for check in replayed.json["checks"])
    refused = sandbox.milepost("proof", "T1")
    assert (refused.code, refused.stdout) == (1, "") and refused.stderr.startswith(f"error: T1 on {first[:7]}: ")
    assert len(refused.stderr.splitlines()) == 2, "one line, and what to do about it"

    annotate(sandbox.git("notes", "--ref=milepost", "show", second))
    assert sandbox.milepost("proof", "T1", "--json").code == 1, "an honest note, but of another milepost"
    other = sandbox.milepost("verify", "T1", "--replay")
    assert (other.code, other.stdout.rstrip().splitlines()[-1:]) == (1, ["different"]), other.stderr

    annotate("{}")
    for words in (("proof", "T1"), ("verify", "T1", "--replay")):
        damaged = sandbox.milepost(*words)
        assert (damaged.code, "damaged" in damaged.stderr, len(damaged.stderr.splitlines())) == (1, True, 2), words

    annotate(honest)
    assert sandbox.milepost("proof", "T1").code == 0, "nothing but the note was wrong"
    assert sandbox.milepost("verify", "--replay").code == 2
    assert sandbox.milepost("verify", "T9", "--replay").code == 2


def state_of(sandbox: Sandbox) -> tuple[str, str, str]:
    return sandbox.git("status", "--porcelain"), sandbox.git("write-tree"), sandbox.git("for-each-ref")


def test_the_users_files_are_verified_as_they_are_and_nothing_of_theirs_is_touched(sandbox: Sandbox) -> None:
    sandbox.write("calc.py", ADD.format("+"))
    sandbox.write("test_calc.py", TEST_ADD)
    sandbox.roadmap("- [ ] T1 Subtract\n  - Files: minus.py\n  - Verify: python3 -c 'import minus; minus.sub'\n")
    sandbox.write("calc.py", ADD.format("-"))
    sandbox.git("add", "calc.py")
    sandbox.write("calc.py", ADD.format("*"))
    sandbox.write("minus.py", "def sub(a, b):\n    return a - b\n")
    before = state_of(sandbox)

    broken = sandbox.milepost("verify", "--json")
    assert broken.code == 1
    found = broken.json
    assert (found["task"], found["verdict"], found["base"]) == (None, "failed", sandbox.git("rev-parse", "HEAD"))
    assert sorted(found["changed"]) == ["calc.py", "minus.py"], "what is tracked and what is not"
    tests = next(check for check in found["checks"] if check["name"].startswith("tests"))
    (case,) = tests["cases"]
    assert (case["before"], case["outcome"]) == ("passed", "failed") and "test_add" in case["id"]
    assert state_of(sandbox) == before

    sandbox.write("calc.py", ADD.format("+"))
    before = state_of(sandbox)
    mended = sandbox.milepost("verify")
    assert (mended.code, mended.stdout.rstrip().splitlines()[-1]) == (0, "nothing failed"), mended.stdout
    with_task = sandbox.milepost("verify", "t1", "--json")
    assert (with_task.code, with_task.json["verdict"], with_task.json["task"]) == (0, "passed", "T1"), with_task.stdout
    assert state_of(sandbox) == before
    assert sandbox.milepost("verify", "T9").code == 2


@slow
def test_files_can_be_verified_while_a_run_is_going_on(sandbox: Sandbox) -> None:
    sandbox.write("calc.py", ADD.format("+"))
    sandbox.write("test_calc.py", TEST_ADD)
    sandbox.roadmap("- [ ] T1 Slow\n  - Verify: test -f a.txt\n")
    go = sandbox.home.parent / "agent" / "go"
    agent = f"command:sh -c 'echo a > a.txt; while [ ! -e {go} ]; do sleep 0.05; done' {go.parent}"
    run = sandbox.start("run", "--agent", agent)
    try:
        wait_until(lambda: "act" in sandbox.milepost("status").stdout)
        sandbox.write("calc.py", ADD.format("-"))
        assert sandbox.milepost("verify").code == 1
        sandbox.git("checkout", "--quiet", "calc.py")
        assert sandbox.milepost("verify").code == 0
        go.write_text("")
        stdout, stderr = run.communicate(timeout=60)
        assert run.returncode == 0, stdout + stderr
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
    assert sandbox.mileposts() == ["T1"]


def everything_kept(sandbox: Sandbox) -> bytes:
    """All bytes of the state directory, logs unpacked, and of all objects in git."""
    files = [path for path in places.state(sandbox.repo).rglob("*") if path.is_file()]
    state = [gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in files]
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=sandbox.repo, capture_output=True, check=True
    ).stdout
    return b"\n".join([*state, objects])


def test_whole_logs_are_shown_and_no_secret_is_in_them_or_anywhere_else(sandbox: Sandbox) -> None:
    secret = "blue-horse-battery-71"
    show = "python3 -c \"print('line', *range(3000)); print('found', open('f.txt').read()[::-1])\""
    sandbox.write("milepost.toml", '[agents.command]\nenv_from = ["SHOP_API_KEY"]\n')
    sandbox.roadmap(
        f"- [ ] T1 Show\n  - Files: f.txt\n  - Verify: {show}\n"
        f'- [ ] T2 Fail\n  - Files: g.txt\n  - Verify: {show.replace("f.txt", "g.txt")[:-1]}; raise SystemExit(1)"\n'
    )
    agent = scripted(
        sandbox, T1=[[["tell-key", "f.txt"]]], T2=[[["tell-key", "g.txt"], ["exit", 3]], [["tell-key", "g.txt"]]]
    )
    answer = sandbox.milepost("run", "--agent", agent, "--json", SHOP_API_KEY=secret)
    assert verdicts(answer) == {"T1": "passed", "T2": "failed"}, answer.stderr
    log = sandbox.milepost("proof", "T1", "--log")
    assert log.code == 0 and "2998 2999\n" in log.stdout, "the whole of it"
    assert "found [secret]" in log.stdout
    assert "found [secret]" in sandbox.milepost("proof", "T2", "--log").stdout
    told = answer.stdout + answer.stderr + log.stdout + sandbox.git("notes", "--ref=milepost", "show", "HEAD")
    assert secret not in told and "the key is [secret]" in told
    assert secret.encode() not in everything_kept(sandbox)


REVIEWER = """\
import json, os
asked = json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))
refuse = {"accept": False, "reason": "the greeting is rude"}
if "exhausting" in asked["text"]:
    raise SystemExit(75)
print(json.dumps(refuse if "rude" in asked["text"].lower() else {"accept": True}))
"""


def test_a_further_opinion_refuses_with_its_reason_and_passes_nothing(sandbox: Sandbox) -> None:
    reviewer = sandbox.home.parent / "agent" / "reviewer.py"
    reviewer.write_text(REVIEWER)
    settings = '[verify]\nmode = "agent"\n{}[limits]\nattempts = 1\n'
    sandbox.write("milepost.toml", settings.format(""))
    sandbox.roadmap(
        "- [ ] T1 Greet\n  - Verify: test -f t1.txt\n"
        "- [ ] T2 Greet well\n  - Verify: test -f t2.txt\n"
        "- [ ] T3 Greet nicely\n  - Files: t3.txt\n"
        "- [ ] T4 Greet at length\n  - Verify: test -f t4.txt\n"
    )
    agent = scripted(
        sandbox,
        T1=[[write("t1.txt", "rude\n")]],
        T2=[[write("t2.txt", "hello\n")]],
        T3=[[write("t3.txt", "hello\n")]],
        T4=[[write("t4.txt", "exhausting\n")]],
    )
    nobody = sandbox.milepost("run", "--agent", agent)
    assert nobody.code == 2 and nobody.stderr.startswith("error: verify.mode is 'agent'")
    sandbox.write("milepost.toml", settings.format(f'agent = "command:{sys.executable} {reviewer}"\n'))
    sandbox.commit("Settings")
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert verdicts(answer) == {"T1": "failed", "T2": "passed", "T3": "held", "T4": "failed"}, reasons(answer)
    assert "the greeting is rude" in tasks_of(answer)["T1"]["reason"]
    assert "gave no opinion: its service cannot be asked now" in tasks_of(answer)["T4"]["reason"]
    assert sandbox.mileposts() == ["T2"]
    opinion = sandbox.milepost("proof", "T2", "--json").json["checks"][-1]
    assert (opinion["name"], opinion["outcome"], opinion["decisive"]) == ("opinion", "passed", False)
    again = sandbox.milepost("verify", "T2", "--replay")
    assert again.code == 0, "what no check can find again is not held against a milepost: " + again.stdout


def test_nothing_passes_where_verification_is_skipped(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", '[verify]\nmode = "skip"\n')
    sandbox.roadmap("- [ ] T1 Greet\n  - Verify: test -f a.txt\n")
    agent = scripted(sandbox, T1=[[write("a.txt", "hello\n")]])
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert (answer.code, verdicts(answer)) == (1, {"T1": "unverified"})
    assert sandbox.mileposts() == []
    assert sandbox.milepost("proof", "T1", "--json").json["checks"] == []
    assert "nothing was checked" in sandbox.milepost("verify").stdout


def test_a_low_level_asks_little_and_the_verify_line_decides_still(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", '[verify]\nlevel = "files"\n[limits]\nattempts = 1\n')
    sandbox.roadmap(
        "- [ ] T1 Draft\n  - Verify: test -f a.py\n"
        "- [ ] T2 Compiles\n  - Verify: python3 -m py_compile b.py\n"
        "- [ ] T3 Unasked\n  - Files: c.py\n"
    )
    slip = "def add(a, b:\n"
    agent = scripted(sandbox, T1=[[write("a.py", slip)]], T2=[[write("b.py", slip)]], T3=[[write("c.py", slip)]])
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert verdicts(answer) == {"T1": "passed", "T2": "failed", "T3": "held"}, reasons(answer)
    assert {"syntax", "imports", "tests"}.isdisjoint(
        check["name"] for check in sandbox.milepost("proof", "T1", "--json").json["checks"]
    )


def test_what_changed_around_a_project_between_two_runs_is_the_work_of_no_task(sandbox: Sandbox) -> None:
    outside = sandbox.home.parent / "outside"
    outside.mkdir()
    sandbox.write("milepost.toml", f'[sandbox]\nreadable = ["{outside}"]\n')
    service = "self.assertTrue(pathlib.Path({!r}).exists())".format(str(outside / "service"))
    test = TEST_ADD.replace("self.assertEqual(add(2, 3), 5)", service)
    sandbox.write("test_service.py", test.replace("from calc import add", "import pathlib"))
    sandbox.roadmap("- [ ] T1 Mend it\n  - Files: a.txt\n")
    agent = scripted(sandbox, T1=[[write("a.txt", "I tried\n")]])
    assert verdicts(sandbox.milepost("run", "--agent", agent, "--json")) == {"T1": "held"}
    (outside / "service").write_text("it runs again\n")
    answer = sandbox.milepost("run", "--agent", agent, "--json", "--task", "T1")
    assert verdicts(answer) == {"T1": "held"}, reasons(answer)


def test_a_verify_line_that_was_green_before_shows_nothing(sandbox: Sandbox) -> None:
    sandbox.write("calc.py", ADD.format("+"))
    sandbox.write("other.py", ADD.format("+"))
    sandbox.roadmap(
        "- [ ] T1 Comment\n  - Verify: true\n"
        "- [ ] T2 Elsewhere\n  - Files: other.py\n  - Verify: true\n"
        "- [ ] T3 Multiply\n  - Files: calc.py\n  - Verify: true\n"
    )
    work = ADD.format("+") + "\n\ndef multiply(a, b):\n    return a * b\n"
    agent = scripted(
        sandbox,
        T1=[[write("other.py", "# Adds numbers.\n" + ADD.format("+"))]],
        T2=[[write("notes.txt", "thought about it\n")]],
        T3=[[write("calc.py", work)]],
    )
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert verdicts(answer) == dict.fromkeys(("T1", "T2", "T3"), "held"), reasons(answer)
    assert sandbox.mileposts() == []


def test_what_the_author_allows_expects_or_forbids_decides(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.write("calc.py", ADD.format("-"))
    sandbox.write("test_calc.py", TEST_ADD.replace("5", "-1"))
    sandbox.roadmap(
        "- [ ] T1 Look after the readme\n  - Changes: none\n  - Verify: test -f README.md\n"
        "- [ ] T2 Do something\n  - Verify: test -f README.md\n"
        "- [ ] T3 Only this file\n  - Files: a.txt\n  - Scope: files\n  - Verify: test -f a.txt\n"
        "- [ ] T4 Adding means adding\n  - Files: calc.py, test_calc.py\n  - Tests: may change\n"
        "  - Verify: python3 -c 'from calc import add; assert add(2, 3) == 5'\n"
        "- [ ] T5 The same with tests that stay\n  - Verify: grep -q subtract calc.py\n  - Depends on: T4\n"
    )
    agent = scripted(
        sandbox,
        T3=[[write("a.txt", "a\n"), write("b.txt", "b\n")]],
        T4=[[write("calc.py", ADD.format("+")), write("test_calc.py", TEST_ADD)]],
        T5=[
            [
                write("calc.py", ADD.format("-") + "\n\nsubtract = add\n"),
                write("test_calc.py", TEST_ADD.replace("5", "-1")),
            ]
        ],
    )
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert verdicts(answer) == {"T1": "passed", "T2": "failed", "T3": "failed", "T4": "passed", "T5": "held"}, reasons(
        answer
    )
    ended = tasks_of(answer)
    assert "changed nothing" in ended["T2"]["reason"]
    assert "b.txt" in ended["T3"]["reason"] and "outside" in ended["T3"]["reason"]
    assert "test_calc.py" in ended["T5"]["reason"] or "test_add" in ended["T5"]["reason"]
    assert sorted(sandbox.mileposts()) == ["T1", "T4"]
    assert sandbox.git("show", "--format=", "--name-only", ended["T1"]["commit"]) == "ROADMAP.md"
    assert "test_calc.py" in sandbox.milepost("proof", "T4").stdout, "that a test was rewritten is shown"
    assert sandbox.milepost("verify", "T1", "--replay").code == 0
    assert sandbox.milepost("verify", "T4", "--replay").code == 0


def test_unfinished_leaking_and_test_detecting_work_is_refused_in_words_a_person_understands(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.write("calc.py", ADD.format("-"))
    sandbox.write("test_calc.py", TEST_ADD)
    sandbox.roadmap(
        "- [ ] T1 Multiply\n  - Files: times.py\n  - Verify: python3 -c 'import times'\n"
        "- [ ] T2 Log in\n  - Files: login.py\n  - Verify: python3 -c 'import login'\n"
        "- [ ] T3 Mend add\n  - Files: calc.py\n"
    )
    agent = scripted(
        sandbox,
        T1=[[write("times.py", "def times(a, b):\n    raise NotImplementedError\n")]],
        T2=[[write("login.py", 'TOKEN = "ghp_' + "Zq7Lw2Xv9Rt4Yb6Nm1Kc8Jd3Hf5Gs0Pa" + '"\n')]],
        T3=[
            [
                write(
                    "calc.py",
                    "import sys\n\n\ndef add(a, b):\n"
                    "    if 'unittest' in sys.modules:\n        return 5\n    return a - b\n",
                )
            ]
        ],
    )
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert verdicts(answer) == {"T1": "failed", "T2": "failed", "T3": "held"}, reasons(answer)
    ended = tasks_of(answer)
    assert "times.py" in ended["T1"]["reason"] and "times" in ended["T1"]["reason"]
    assert "credentials" in ended["T2"]["reason"] and "login.py" in ended["T2"]["reason"]
    assert "ghp_" not in answer.stdout + answer.stderr
    assert "without a test runner" in ended["T3"]["reason"]
    assert sandbox.mileposts() == []


def test_a_secret_of_the_users_environment_does_not_get_into_a_milepost(sandbox: Sandbox) -> None:
    secret = "blue-horse-battery-71"
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.roadmap("- [ ] T1 Configure\n  - Verify: test -f shop.conf\n")
    agent = scripted(sandbox, T1=[[write("shop.conf", f"login {secret}\n")]])
    answer = sandbox.milepost("run", "--agent", agent, "--json", SHOP_API_KEY=secret)
    assert verdicts(answer) == {"T1": "failed"}, reasons(answer)
    assert "shop.conf:1 (a secret from your environment)" in tasks_of(answer)["T1"]["reason"]
    assert secret not in answer.stdout + answer.stderr


def test_a_change_larger_than_the_settings_allow_is_refused(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n\n[verify]\nmost_files = 1\n")
    sandbox.roadmap("- [ ] T1 One\n  - Verify: test -f a.txt\n- [ ] T2 Two\n  - Verify: test -f b.txt\n")
    agent = scripted(sandbox, T1=[[write("a.txt", "a\n")]], T2=[[write("b.txt", "b\n"), write("c.txt", "c\n")]])
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert verdicts(answer) == {"T1": "passed", "T2": "failed"}, reasons(answer)
    assert tasks_of(answer)["T2"]["reason"] == "2 files changed, 1 allowed"
