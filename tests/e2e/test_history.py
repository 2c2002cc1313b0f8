"""Looking at what was tried and going back, from the command line: attempts, diff, restore, marks, undo, status."""

from __future__ import annotations

import os
import pty
import subprocess

from tests.e2e.conftest import Sandbox
from tests.slow import slow

PLAN = """# Plan

- [ ] 1.1 Say hello
  - fail-first
  - write a.txt hello
  - Verify: grep -q hello a.txt
- [ ] 1.2 Say more
  - write b.txt more
  - Depends on: 1.1
  - Verify: grep -q more b.txt
"""


def on_a_terminal(sandbox: Sandbox, *words: str, **env: str) -> str:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        sandbox.argv(*words), cwd=sandbox.repo, env=sandbox.environment | env, stdout=theirs, stdin=theirs
    )
    os.close(theirs)
    seen = b""
    try:
        while more := os.read(ours, 4096):
            seen += more
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return seen.decode()


def test_every_attempt_can_be_looked_at_again_and_files_come_back_from_it(sandbox: Sandbox) -> None:
    sandbox.roadmap(PLAN)
    assert sandbox.run().code == 0
    first, second = sandbox.milepost("attempts", "1.1", "--json").json
    assert (first["name"], first["verdict"], first["milepost"]) == ("1.1#1", "failed", "")
    assert (second["name"], second["verdict"], second["number"]) == ("1.1#2", "passed", 2)
    assert second["milepost"] == sandbox.git("rev-parse", "HEAD~1") and first["agent"].startswith("command:")
    assert sandbox.git("rev-parse", first["ref"]) == first["commit"] and first["reason"]
    told = sandbox.milepost("attempts", "1.1").stdout
    assert "2 attempts in 1 run" in told and "1.1#1" in told and first["reason"] in told

    assert "+BROKEN" in sandbox.milepost("diff", "1.1#1").stdout
    between = sandbox.milepost("diff", "1.1#1", "1.1#2").stdout
    assert "-BROKEN" in between and "+hello" in between
    assert "a.txt" in sandbox.milepost("diff", "1.1", "--stat").stdout
    whole = sandbox.milepost("diff", "1.1", "--json").json
    assert whole["files"] == ["ROADMAP.md", "a.txt"] and "+- [x] 1.1" in whole["patch"]
    shown = on_a_terminal(sandbox, "diff", "1.1", GIT_PAGER="sed s/hello/paged/", NO_COLOR="1", TERM="xterm")
    assert "+paged" in shown and "\x1b" not in shown
    assert "\x1b[32m+hello" in on_a_terminal(sandbox, "diff", "1.1", GIT_PAGER="cat", TERM="xterm")

    back = sandbox.milepost("restore", "a.txt", "--from", "1.1#1")
    assert back.code == 0 and "nothing is committed" in back.stdout, back.stderr
    assert (sandbox.repo / "a.txt").read_text() == "BROKEN\n" and sandbox.git("diff", "--cached") == ""
    refused = sandbox.milepost("restore", "a.txt", "--from", "1.1")
    assert refused.code == 1 and "not committed" in refused.stderr
    assert (sandbox.repo / "a.txt").read_text() == "BROKEN\n"
    for words, said in {
        ("diff", "1.1#3"): "no attempt 1.1#3",
        ("diff", "nobody"): "'nobody'",
        ("attempts", "7.7"): "'7.7'",
        ("restore", "never.txt", "--from", "1.1"): "never.txt is not in 1.1",
        ("mark", "--", "-x"): "is not a valid mark name",
        ("undo",): "name what to undo",
    }.items():
        answer = sandbox.milepost(*words)
        assert answer.code == 2 and said in answer.stderr and "Traceback" not in answer.stderr, answer


@slow
def test_going_back_is_previewed_refused_done_and_seen_in_the_status(sandbox: Sandbox) -> None:
    sandbox.roadmap(PLAN)
    assert sandbox.milepost("mark", "start").code == 0
    assert "start" in sandbox.milepost("marks").stdout
    assert sandbox.run().code == 0
    head = sandbox.git("rev-parse", "HEAD")
    alone = sandbox.milepost("undo", "1.1")
    assert alone.code == 1 and "1.2 depends on 1.1" in alone.stderr
    assert "milepost undo 1.1 --with-dependents" in alone.stderr
    preview = sandbox.milepost("undo", "--to", "start", "--dry-run")
    assert preview.code == 0 and "2 mileposts" in preview.stdout and "a.txt" in preview.stdout
    assert sandbox.git("rev-parse", "HEAD") == head
    undone = sandbox.milepost("undo", "--to", "1.1", "--json").json
    assert [(one["task"], one["files"], one["boxes"]) for one in undone["taken_back"]] == [("1.2", ["b.txt"], ["1.2"])]
    status = sandbox.milepost("status")
    assert "undone: open again" in status.stdout and "1 of 2 done" in status.stdout, status.stdout
    tasks = {task["task"]: task["verdict"] for task in sandbox.milepost("status", "--json").json["tasks"]}
    assert tasks == {"1.1": "passed", "1.2": None}
    assert sandbox.run().code == 0, "it can be done again"
    assert sandbox.milepost("attempts", "1.2").stdout.count("1.2#") >= 2
    assert sandbox.milepost("undo", "--to", "start").code == 0
    assert "[x]" not in (sandbox.repo / "ROADMAP.md").read_text() and not list(sandbox.repo.glob("*.txt"))
    assert sandbox.milepost("undo", "--to", "start").stdout.startswith("nothing to undo")
