"""What the commands print: true, in one piece, and of use in the folder where it is read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import milepost
from milepost import events
from milepost.cli.run_live import tell_machines
from tests.e2e.conftest import Sandbox
from tests.e2e.test_chaos import wait_until
from tests.integration.repositories import everything

TWO = (
    "- [ ] 1.1 First\n  - write a.txt hello\n  - Verify: grep -q hello a.txt\n"
    "- [ ] 1.2 Second\n  - write b.txt b\n  - Depends on: 1.1\n  - Verify: test -f b.txt\n"
)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--task", "nope"), "there is no task 'nope'"),
        (("--agent", "nonsense"), "nonsense"),
        (("--trust", "blind"), "trust"),
    ],
)
def test_a_dry_run_refuses_what_a_run_refuses(sandbox: Sandbox, words: tuple[str, ...], told: str) -> None:
    sandbox.roadmap(TWO)
    dry, wet = sandbox.run("--dry-run", *words), sandbox.run(*words)
    assert (dry.code, dry.stdout) == (2, "")
    assert told in dry.stderr and dry.stderr == wet.stderr


def test_a_dry_run_names_the_tasks_that_a_run_would_do_and_changes_nothing(sandbox: Sandbox) -> None:
    sandbox.roadmap(TWO)
    before = everything(sandbox.repo)
    shown = sandbox.run("--dry-run", "--task", "1.1").stdout
    assert "1.1  First" in shown and "1.2  Second" not in shown
    assert shown.endswith("a run would do 1 task; nothing was changed\n")
    found = sandbox.run("--dry-run", "--json").json
    assert (found["would_run"], found["waves"]) == (["1.1", "1.2"], [["1.1"], ["1.2"]])
    assert sandbox.run("--dry-run", "--json", "--max-tasks", "1").json["would_run"] == ["1.1"]
    assert everything(sandbox.repo) == before


def test_a_dry_run_knows_what_is_done_and_not_merged_yet(sandbox: Sandbox) -> None:
    sandbox.roadmap(TWO)
    sandbox.write("README.md", "edited\n")
    assert sandbox.run("--max-tasks", "1").code == 0
    assert sandbox.run("--dry-run", "--json").json["would_run"] == ["1.2"]
    assert sandbox.run().code == 0
    assert "nothing to do: all that was asked for is done" in sandbox.run("--dry-run").stdout


def test_a_dry_run_names_what_is_left_of_an_interrupted_run(sandbox: Sandbox) -> None:
    sandbox.roadmap(TWO.replace("write b.txt b", "write b.txt b\n  - sleep 60"))
    process = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: any((sandbox.home / ".cache/milepost").glob("*/*/tree/b.txt")))
    busy = sandbox.run("--dry-run")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert (busy.code, busy.stdout) == (1, "") and "already in progress" in busy.stderr
    assert sandbox.run("--dry-run", "--json").json["would_run"] == ["1.2"]
    assert sandbox.run("--dry-run", "--json", "--new").json["would_run"] == ["1.2"], "1.1 is on the branch"


def test_status_says_why_a_task_failed(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Wrong\n  - write a.txt wrong\n  - Verify: grep -q right a.txt\n")
    answer = sandbox.run("--json")
    reason = answer.events[-1]["tasks"][0]["reason"]
    told = [line.strip() for line in sandbox.milepost("status").stdout.splitlines()]
    assert told.count(reason) == 1
    assert [f"attempt {number} failed: {reason}" in told for number in (1, 2)] == [True, False]


def test_a_plan_names_the_file_that_was_read(sandbox: Sandbox) -> None:
    sandbox.write("docs/roadmap.md", TWO)
    (sandbox.repo / "src").mkdir()

    def first_line(folder: Path, *words: str) -> str:
        done = subprocess.run(
            sandbox.argv("plan", *words), cwd=folder, env=sandbox.environment, capture_output=True, text=True
        )
        return done.stdout.partition(" · ")[0]

    assert first_line(sandbox.repo) == "docs/roadmap.md"
    assert first_line(sandbox.repo / "src") == "../docs/roadmap.md"
    assert first_line(sandbox.repo / "docs", "..") == "roadmap.md"


@pytest.mark.parametrize("place", ["project", "project/deep/er", "."])
def test_what_init_says_to_do_next_works_where_it_is_said(sandbox: Sandbox, place: str) -> None:
    (sandbox.repo / "deep" / "er").mkdir(parents=True)
    folder = sandbox.home / place
    words = ("init",) if place != "." else ("init", "project")
    answer = subprocess.run(
        sandbox.argv(*words), cwd=folder, env=sandbox.environment, capture_output=True, text=True, check=True
    )
    advice = answer.stdout.rpartition("then: ")[2].partition("\n")[0]
    subprocess.run(["sh", "-c", advice], cwd=folder, env=sandbox.environment, capture_output=True, check=True)
    assert sandbox.git("ls-files").split() == ["README.md", "ROADMAP.md", "milepost.toml"]
    created = [line.removeprefix("created ") for line in answer.stdout.splitlines() if line.startswith("created ")]
    assert len(created) == 2 and all((folder / path).is_file() for path in created)


def test_an_error_of_executed_code_does_not_reach_the_terminal_raw(tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text("raise ValueError('\\x1b[31mred\\n\\x07bell')\n")
    argv = [sys.executable, "-m", "milepost", "exec", str(code)]
    shown = subprocess.run(argv, capture_output=True, text=True)
    assert shown.returncode == 1
    assert "[31mred" in shown.stderr and "\nbell" in shown.stderr
    assert "\x1b" not in shown.stderr and "\x07" not in shown.stderr
    plain = json.loads(subprocess.run([*argv, "--json"], capture_output=True, text=True).stdout)
    assert plain["truncated"] is False and "red" in plain["error"]


def test_a_line_for_machines_is_written_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two writes a line would let the lines of two threads mix."""
    written: list[str] = []
    monkeypatch.setattr(sys.stdout, "write", written.append)

    def go(tell: object) -> milepost.NothingToDo:
        assert callable(tell)
        tell(events.RunStopping(run="7f3a", at_once=True))
        return milepost.NothingToDo(reason="a test")

    assert tell_machines(go) == 0
    assert [json.loads(line)["event"] for line in written] == ["run_stopping", "nothing_to_do"]
    assert all(line.endswith("\n") for line in written)
