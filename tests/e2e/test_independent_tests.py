"""Tests that the worker has not seen, from the command line: the user's hidden ones, and those of a tester."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.e2e.conftest import Answer, Sandbox
from tests.e2e.test_proof import reasons, scripted, tasks_of, verdicts, write

RIGHT = "def square(x):\n    return x * x\n"
FITTED = "def square(x):\n    return {2: 4}.get(x)\n"
HIDDEN = (
    "from area import square\n\ndef test_many():\n    # only the user knows this line\n    assert square(7) == 49\n"
)
TASK = "- [ ] T1 Add square(x) to area.py\n"

# Looks for the tests wherever it can: in its folder, at the user's, among all objects of git, in the state directory.
SPY = """
import pathlib, subprocess, sys
pathlib.Path("area.py").write_text({right!r})
said = subprocess.run("git cat-file --batch-all-objects --batch --unordered; grep -r . {repo}; ls -R ..", shell=True,
                      capture_output=True, text=True, errors="replace").stdout
found = [word for word in ({secret!r}, "def test_readme") if word in said]
pathlib.Path("seen.txt").write_text(repr(found) + "\\n")
"""


def spy(sandbox: Sandbox, secret: str) -> str:
    path = sandbox.home.parent / "agent" / "spy.py"
    path.write_text(SPY.format(right=RIGHT, repo=sandbox.repo, secret=secret))
    return f"command:{sys.executable} {path}"


def settings(sandbox: Sandbox, verify: str) -> None:
    sandbox.write("milepost.toml", f"[verify]\n{verify}\n[limits]\nattempts = 2\n[run]\nagent = 'none'\n")
    sandbox.write("tests/test_readme.py", "def test_readme():\n    assert True\n")
    sandbox.write(".gitignore", "hidden/\n.milepost/\n")


def checks(sandbox: Sandbox, name: str) -> list[dict[str, Any]]:
    proof = sandbox.milepost("proof", "T1", "--json").json
    return [check for check in proof["checks"] if check["name"] == name]


def told(answer: Answer) -> str:
    return "\n".join(event["text"] for event in answer.events if event["event"] == "agent_said")


def test_hidden_tests_decide_and_no_agent_can_read_them(sandbox: Sandbox) -> None:
    settings(sandbox, 'hidden = "hidden/"')
    sandbox.roadmap(f"{TASK}  - Verify hidden: pytest -q hidden\n")
    sandbox.write("hidden/test_square.py", HIDDEN)
    agent = spy(sandbox, "only the user knows this line")
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert verdicts(answer) == {"T1": "passed"}, reasons(answer)
    assert sandbox.git("show", "HEAD:seen.txt") == "['def test_readme']", "it sees what is in git"
    (check,) = checks(sandbox, "hidden tests")
    assert (check["summary"], check["before"]) == ("1 hidden test passed, 1 of them also without a runner", "failed")
    assert "hidden" not in sandbox.git("ls-tree", "-r", "--name-only", "HEAD")


def test_work_that_fits_what_it_was_shown_fails_by_name_and_without_source(sandbox: Sandbox) -> None:
    settings(sandbox, 'hidden = "hidden/"')
    sandbox.roadmap(f"{TASK}  - Verify hidden: pytest -q hidden\n")
    sandbox.write("hidden/test_square.py", HIDDEN)
    agent = scripted(sandbox, T1=[[write("area.py", FITTED)], [write("area.py", RIGHT)]])
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert verdicts(answer) == {"T1": "passed"}, reasons(answer)
    assert tasks_of(answer)["T1"]["attempts"] == 2
    assert "hidden/test_square.py::test_many" in reasons(answer)
    assert "only the user knows" not in reasons(answer)


def test_hidden_tests_that_git_knows_are_refused_in_one_line(sandbox: Sandbox) -> None:
    settings(sandbox, 'hidden = "hidden/"')
    sandbox.write(".gitignore", ".milepost/\n")
    sandbox.write("hidden/test_square.py", HIDDEN)
    sandbox.roadmap(f"{TASK}  - Verify hidden: pytest -q hidden\n")
    answer = sandbox.run()
    assert answer.code == 2
    assert answer.stderr.startswith("error: hidden/test_square.py is in git, where every agent can read it")
    assert sandbox.milepost("status", "--json").json["run"] is None, "no run was begun"


def test_a_tester_turns_a_task_without_verify_into_a_verdict(sandbox: Sandbox) -> None:
    tester = scripted(sandbox, "tester", T1=[[write("tests/test_square.py", HIDDEN)]])
    settings(sandbox, f'tester = "{tester}"')
    sandbox.roadmap(TASK)
    answer = sandbox.milepost("run", "--agent", spy(sandbox, "only the user knows this line"), "--json")
    assert verdicts(answer) == {"T1": "passed"}, reasons(answer)
    assert sandbox.git("show", "HEAD:seen.txt") == "['def test_readme']", "it sees what is in git"
    (check,) = checks(sandbox, "independent tests")
    assert check["decisive"] and check["outcome"] == "passed"
    assert tester in check["summary"] and "spy.py" in check["summary"]
    assert "tests/test_square.py" not in sandbox.git("ls-tree", "-r", "--name-only", "HEAD")
    assert "wrote 1 file of tests" in told(answer)


def test_work_that_the_testers_tests_refuse_is_done_again(sandbox: Sandbox) -> None:
    tester = scripted(sandbox, "tester", T1=[[write("tests/test_square.py", HIDDEN)]])
    settings(sandbox, f'tester = "{tester}"\nkeep_independent = true')
    sandbox.roadmap(TASK)
    agent = scripted(sandbox, T1=[[write("area.py", FITTED)], [write("area.py", RIGHT)]])
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert verdicts(answer) == {"T1": "passed"}, reasons(answer)
    assert tasks_of(answer)["T1"]["attempts"] == 2
    assert sandbox.git("show", "HEAD:tests/test_square.py") == HIDDEN.rstrip("\n"), "kept with the milepost"


@pytest.mark.parametrize(
    ("acts", "why"),
    [
        ([], "the tester wrote no test"),
        ([write("tests/test_it.py", "def test_it():\n    assert True\n")], "passes before the task is done"),
        ([write("area.py", RIGHT)], "the tester changed area.py, and may only add tests"),
        ([write("tests/test_readme.py", "")], "the tester changed tests/test_readme.py, and may only add tests"),
        ([write("tests/test_it.py", "def test_it(:\n")], "tests/test_it.py, which the tester wrote, cannot be read"),
        ([["exit", 3]], "gave up"),
    ],
)
def test_a_tester_of_no_use_stops_nobody_and_the_proof_says_so(sandbox: Sandbox, acts: list[Any], why: str) -> None:
    tester = scripted(sandbox, "tester", T1=[acts])
    settings(sandbox, f'tester = "{tester}"')
    sandbox.roadmap(f"{TASK}  - Verify: python -m pytest -q\n")
    agent = scripted(sandbox, T1=[[write("area.py", RIGHT), write("tests/test_own.py", HIDDEN)]])
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    found = [event for event in answer.events if event.get("name") == "independent tests"]
    assert [check["outcome"] for check in found] == ["absent"], (answer.stderr, reasons(answer))
    assert found[0]["summary"].startswith("no independent tests: ") and why in found[0]["summary"]


def test_a_task_with_a_deciding_verify_needs_no_tester(sandbox: Sandbox) -> None:
    tester = scripted(sandbox, "tester", T1=[[write("tests/test_square.py", HIDDEN)]])
    settings(sandbox, f'tester = "{tester}"')
    sandbox.roadmap(f"{TASK}  - Verify: python -c 'from area import square; assert square(3) == 9'\n")
    answer = sandbox.milepost("run", "--agent", scripted(sandbox, T1=[[write("area.py", RIGHT)]]), "--json")
    assert verdicts(answer) == {"T1": "passed"}, reasons(answer)
    assert not [event for event in answer.events if event.get("name") == "independent tests"]
