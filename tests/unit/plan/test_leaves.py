"""Subtasks as tasks of their own."""

from __future__ import annotations

import pytest

from milepost.core.budget import Allowance
from milepost.core.task import Plan
from milepost.plan.graph.build_graph import plan
from milepost.plan.options import Planning
from milepost.roadmap import read

ROADMAP = """\
## Core

- [ ] 1.1 Durations
  - Files: durations.py
  - Agent: claude
  - Budget: $3, 2 attempts
  - Verify: `pytest`
  - [ ] 1.1.1 Parse
    - Files: parse.py
    - Verify: `one`
    - Budget: $9
  - [x] 1.1.2 Sketch
  - [ ] 1.1.3 Format
    - Depends on: 1.1.1
    - [ ] 1.1.3.1 Minutes
    - [ ] 1.1.3.2 Hours
- [ ] 1.2 Command line
  - Depends on: 1.1
- [ ] 1.3 Docs
  - Depends on: 1.1.2
  - [x] 1.3.1 Outline
"""


@pytest.fixture
def found() -> Plan:
    return plan(read(ROADMAP.encode()), Planning(unit="subtask"))


def test_the_innermost_open_boxes_are_the_tasks(found: Plan) -> None:
    assert [task.id for task in found.tasks] == ["1.1.1", "1.1.2", "1.1.3.1", "1.1.3.2", "1.2", "1.3"]
    assert found.waves == (("1.1.1", "1.3"), ("1.1.3.1",), ("1.1.3.2",), ("1.2",))


def test_a_leaf_has_of_its_parents_what_it_does_not_say_itself(found: Plan) -> None:
    parse, minutes = found.task("1.1.1"), found.task("1.1.3.1")
    assert (parse.files, minutes.files) == (("parse.py",), ("durations.py",))
    assert (parse.agent, minutes.agent) == ("claude", "claude")
    assert (parse.budget, minutes.budget) == (Allowance(usd=9), Allowance(usd=1, attempts=2))
    assert (parse.context, minutes.context) == ("Durations", "Durations › Format")
    assert not [problem for problem in found.problems if problem.kind == "bounds"]


def test_a_dependency_means_all_leaves_of_what_it_names(found: Plan) -> None:
    assert found.task("1.1.3.2").depends_on == ("1.1.1",)
    assert found.task("1.2").depends_on == ("1.1.1", "1.1.2", "1.1.3.1", "1.1.3.2")
    assert found.task("1.3").depends_on == ("1.1.2",)


def test_what_proves_a_whole_is_asked_of_its_last_leaf_after_the_others(found: Plan) -> None:
    assert found.task("1.1.1").verify == ("one",)
    assert found.task("1.1.3.2").verify == ("pytest",)
    waits = [(wait.task, wait.after, wait.because) for wait in found.waits]
    assert waits == [("1.1.3.2", "1.1.3.1", "its Verify covers all of 1.1")]


def test_what_proves_a_whole_is_never_asked_of_a_leaf_that_others_wait_for() -> None:
    roadmap = (
        b"- [ ] 1.1 Both\n  - Verify: `a && b`\n  - [ ] 1.1.1 A\n    - Verify: `a`\n    - Depends on: 2.1\n"
        b"  - [ ] 1.1.2 B\n    - Verify: `b`\n- [ ] 2.1 Between\n  - Depends on: 1.1.2\n"
    )
    found = plan(read(roadmap), Planning(unit="subtask"))
    assert found.waves == (("1.1.2",), ("2.1",), ("1.1.1",))
    assert (found.task("1.1.1").verify, found.task("1.1.2").verify) == (("a", "a && b"), ("b",))


def test_a_hidden_proof_of_a_whole_is_asked_of_its_last_leaf_and_behaviour_stays_for_all() -> None:
    roadmap = (
        b"- [ ] 1.1 Both\n  - Behaviour: same\n  - Verify hidden: `whole`\n"
        b"  - [ ] 1.1.1 A\n    - Verify hidden: `a`\n  - [ ] 1.1.2 B\n"
    )
    found = plan(read(roadmap), Planning(unit="subtask"))
    assert [task.verify_hidden for task in found.tasks] == [("a",), ("whole",)]
    assert all(task.keeps_behaviour for task in found.tasks)


def test_a_leaf_that_depends_on_what_it_is_part_of_is_no_circle() -> None:
    roadmap = b"- [ ] 1 One\n  - [ ] 1.1 A\n    - Depends on: One\n  - [ ] 1.2 B\n    - Depends on: 1.1\n"
    assert plan(read(roadmap), Planning(unit="subtask")).waves == (("1.1",), ("1.2",))


def test_a_circle_among_leaves_is_one() -> None:
    roadmap = b"- [ ] 1.0 One\n  - [ ] 1.1 A\n    - Depends on: 1.2\n  - [ ] 1.2 B\n    - Depends on: 1.1\n"
    assert [problem.fatal for problem in plan(read(roadmap), Planning(unit="subtask")).problems][:1] == [True]
    assert plan(read(roadmap)).waves == (("1.0",),)
