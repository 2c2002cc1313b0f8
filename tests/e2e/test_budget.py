"""A budget, from the command line: the run parks at its wall, a task ends at its own, and both are told."""

from __future__ import annotations

import json

from tests.e2e.conftest import Sandbox

ROADMAP = """\
- [ ] 1.1 Write a
  - Files: a.txt
  - Verify: grep -q good a.txt
- [ ] 1.2 Write b
  - Files: b.txt
  - Verify: grep -q good b.txt
  - Budget: $0.03
- [ ] 1.3 Write c
  - Files: c.txt
  - Verify: grep -q good c.txt
"""


def agent(sandbox: Sandbox) -> str:
    """Takes two calls of two cents for each task."""

    def answers(file: str) -> list[list[dict[str, object]]]:
        write = {"name": "write_file", "arguments": {"path": file, "content": "good\n"}}
        return [[{"text": "I write.", "calls": [write], "cost_usd": 0.02}, {"text": "Done.", "cost_usd": 0.02}]]

    path = sandbox.home / "cassette.json"
    files = {"1.1": "a.txt", "1.2": "b.txt", "1.3": "c.txt"}
    path.write_text(json.dumps({"version": 1, "answers": {task: answers(file) for task, file in files.items()}}))
    return f"replay:{path}"


def test_a_run_parks_at_its_wall_and_a_task_ends_at_its_own(sandbox: Sandbox) -> None:
    sandbox.roadmap(ROADMAP)
    parked = sandbox.milepost("run", "--agent", agent(sandbox), "--budget", "0.08", "--parallel", "1")
    assert parked.code == 1
    assert "$0.08 is spent of $0.08" in parked.stderr or "could cost $0.02" in parked.stderr
    assert "milepost resume --budget 0.16" in parked.stderr

    status = sandbox.milepost("status").stdout
    assert "waits   for budget" in status
    assert status.rstrip().endswith("next   milepost resume --budget 0.16")
    ended = {task["task"]: task for task in sandbox.milepost("status", "--json").json["tasks"]}
    assert ended["1.1"]["verdict"] == "passed"
    assert "for this task" in ended["1.2"]["reason"]

    again = sandbox.milepost("resume", "--budget", "1", "--json")
    assert again.code == 1, "1.2 has no milepost"
    verdicts = {task["id"]: task["verdict"] for task in again.events[-1]["tasks"]}
    assert verdicts == {"1.1": "passed", "1.2": "failed", "1.3": "passed"}
    costs = sandbox.milepost("costs", "--json").json
    calls = {task: sum(one["calls"] for one in costs["expenses"] if one["task"] == task) for task in verdicts}
    assert calls["1.1"] == calls["1.3"] == 2, "nothing is paid twice"
    assert costs["budget"]["usd"] == 1
    assert costs["spent"]["held_usd"] == 0
    assert costs["spent"]["usd"] <= 0.04 + 0.03 + 0.04 + 1e-9
    assert sandbox.milepost("plan", "--json").json["forecast"]["similar"] > 0
