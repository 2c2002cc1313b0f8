"""The plan as JSON keeps its shape."""

from __future__ import annotations

import json
import subprocess
import sys

from milepost.core.task import Roadmap, Task
from milepost.plan import plan, to_json
from milepost.roadmap import read

ROADMAP = b"""\
# Durations

## Phase 1: Core

### Parser

- [x] 1.1 Parse durations
- [ ] 1.2 Format durations
  - Files: durations.py
  - Verify: `pytest -q`
  - Depends on: 1.1
  - [ ] 1.2.1 Minutes
- [ ] 1.3 Package
  Pattern: module_creation name=dur
- [ ] 1.4 Make it nicer
"""


def test_a_plan_in_json_has_the_documented_shape() -> None:
    found = json.loads(json.dumps(to_json(plan(read(ROADMAP)))))
    assert list(found) == ["tasks", "waves", "problems", "waits", "critical_path", "proposals"]
    assert found["waves"] == [["1.2", "1.3", "1.4"]]
    message = '1.4 "Make it nicer" is vague (nicer) and has no Verify: say what to change and how to check it'
    assert found["problems"] == [{"line": 15, "message": message, "kind": "vague"}]
    assert found["tasks"][1] == {
        "id": "1.2",
        "title": "Format durations",
        "status": "open",
        "line": 8,
        "phase": "Phase 1: Core",
        "section": "Parser",
        "depends_on": ["1.1"],
        "files": ["durations.py"],
        "verify": ["pytest -q"],
        "subtasks": [
            {
                "id": "1.2.1",
                "title": "Minutes",
                "status": "open",
                "line": 12,
                "phase": "Phase 1: Core",
                "section": "Parser",
                "depends_on": [],
                "files": [],
                "verify": [],
                "subtasks": [],
            }
        ],
    }
    assert [task.get("agent") for task in found["tasks"]] == [None, None, "pattern:module_creation", None]


def test_only_a_fatal_problem_is_marked_as_one() -> None:
    problems = to_json(plan(read(b"- [ ] 1.1 One\n  - Depends on: 9.9\n- [ ] 1.2 Two\n")))["problems"]
    fatal = {problem["line"]: problem.get("fatal", "absent") for problem in problems}
    assert set(fatal.values()) == {"absent", True}
    assert all(("9.9" in problem["message"]) == ("fatal" in problem) for problem in problems)


def test_only_a_guess_is_marked_as_one() -> None:
    tasks = tuple(Task(id=name, title=name, status="done", line=1, guess=name == "b") for name in "ab")
    assert [task.get("guess", "absent") for task in to_json(plan(Roadmap(tasks=tasks)))["tasks"]] == ["absent", True]


def test_reading_and_planning_import_nothing_heavy() -> None:
    program = "import sys, milepost.roadmap, milepost.plan; print([n for n in sys.argv[1:] if n in sys.modules])"
    heavy = ["pydantic", "sqlalchemy", "dbos", "rich", "asyncio"]
    result = subprocess.run([sys.executable, "-c", program, *heavy], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_hidden_checks_and_the_promise_of_the_same_behaviour_are_told_where_they_are_stated() -> None:
    roadmap = read(b"- [ ] 1 Tidy\n  - Behaviour: same\n  - Verify hidden: `pytest hidden`\n")
    found = to_json(plan(roadmap))["tasks"][0]
    assert (found["keeps_behaviour"], found["verify_hidden"]) == (True, ["pytest hidden"])
    assert roadmap.tasks[0].text == ""
