"""An agent program, from the command line: it parks at the run's wall, is killed, and goes on in its own session."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from tests.e2e.conftest import Sandbox

ROADMAP = """\
- [ ] 1.1 Write a
  - Files: a.txt, b.txt
  - Verify: grep -q good a.txt
  - Verify: grep -q good b.txt
"""

# Speaks as Claude Code does: writes a.txt, then b.txt, and keeps in its home what it has done. An answer is 30 cents.
PROGRAM = """\
import json, os, pathlib, sys, time

def say(**event): print(json.dumps({"session_id": "s-1", **event}), flush=True)

def answer(number, *parts):
    usage = {"input_tokens": 100_000, "output_tokens": 0}
    message = {"id": f"m{number}", "model": "claude-sonnet-4-5", "content": parts, "usage": usage}
    say(type="assistant", message=message)

if "--version" in sys.argv: sys.exit(print("1.0"))
session = pathlib.Path.home() / "session"
going_on = "--resume" in sys.argv
say(type="system", subtype="init", model="claude-sonnet-4-5")
if not going_on:
    pathlib.Path("a.txt").write_text("good\\n")
    session.write_text("a is written")
    answer(1, {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "a.txt"}})
    answer(2, {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "sleep"}})
    time.sleep(600)
assert session.read_text() == "a is written", "its home is another one"
pathlib.Path("b.txt").write_text("good\\n")
answer(3, {"type": "text", "text": "Done."})
usage = {"input_tokens": 100_000, "output_tokens": 0}
say(type="result", subtype="success", is_error=False, result="Done.", num_turns=1, total_cost_usd=0.3, usage=usage)
"""


def claude(sandbox: Sandbox) -> Path:
    """The settings for a program that stands for Claude Code."""
    program = sandbox.home / "tools" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{PROGRAM}")
    program.chmod(0o755)
    sandbox.write("milepost.toml", f'[agents.claude]\nprogram = "{program}"\nenv = {{ ANTHROPIC_API_KEY = "k-1" }}\n')
    sandbox.roadmap(ROADMAP)
    return program


def test_a_program_parks_at_the_runs_wall_and_goes_on_in_its_session_with_more_money(sandbox: Sandbox) -> None:
    claude(sandbox)

    parked = sandbox.milepost("run", "--agent", "claude", "--budget", "0.5")

    assert parked.code == 1
    assert "$0.60 is spent of $0.50" in parked.stderr and "milepost resume --budget" in parked.stderr
    again = sandbox.milepost("resume", "--budget", "5", "--json")
    assert again.code == 0
    [task] = again.events[-1]["tasks"]
    assert (task["verdict"], task["attempts"]) == ("passed", 1)
    costs = sandbox.milepost("costs", "--json").json
    assert (round(costs["spent"]["usd"], 2), costs["spent"]["held_usd"]) == (0.9, 0)


def test_a_program_that_was_killed_with_milepost_goes_on_where_it_was(sandbox: Sandbox) -> None:
    claude(sandbox)
    with sandbox.start("run", "--agent", "claude") as process:
        while process.poll() is None and "sleep" not in sandbox.milepost("events").stdout:
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)

    again = sandbox.milepost("resume", "--json")

    [task] = again.events[-1]["tasks"]
    assert (again.code, task["verdict"], task["attempts"]) == (0, "passed", 1)
    assert "continuing session s-1" in sandbox.milepost("events").stdout
    assert round(sandbox.milepost("costs", "--json").json["spent"]["usd"], 2) == 0.9
