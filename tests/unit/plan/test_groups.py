"""Small tasks that are done in one attempt."""

from __future__ import annotations

import pytest

from milepost.core.task import Plan
from milepost.plan.graph.build_graph import plan
from milepost.plan.options import Grouping, Planning, Sequence
from milepost.roadmap import read


def planned(roadmap: str, grouping: Grouping = "smart", sequence: Sequence = "free") -> Plan:
    return plan(read(roadmap.encode()), Planning(grouping=grouping, sequence=sequence))


def groups(found: Plan) -> list[tuple[str, ...]]:
    return [task.ids for task in found.tasks if task.members]


def test_tasks_on_one_file_become_one_attempt_led_by_the_first() -> None:
    found = planned(
        "## One\n\n"
        "- [ ] 1.2 Format durations\n  As text.\n  - Files: src/durations.py, b.py\n  - Verify: `two`\n"
        "- [ ] 1.1 Parse durations\n  From text.\n  - Files: src/durations.py\n  - Verify: `one`\n  - Depends on: 2.2\n"
        "- [ ] 2.1 Something else\n  - Depends on: 1.2\n"
        "- [ ] 2.2 Another thing\n"
    )
    leader = found.task("1.1")
    assert found.waves == (("2.2",), ("1.1",), ("2.1",))
    assert (leader.members, leader.title) == (("1.2",), "Implement durations.py: Parse durations; Format durations")
    assert (leader.files, leader.verify, leader.depends_on) == (("src/durations.py", "b.py"), ("one", "two"), ("2.2",))
    assert leader.text.splitlines()[2:] == [
        "1.1 Parse durations",
        "   From text.",
        "",
        "1.2 Format durations",
        "   As text.",
    ]
    assert [subtask.id for subtask in leader.subtasks] == ["1.2"]
    assert found.task("2.1").depends_on == ("1.1",)
    assert found.task("1.2").title == "Format durations"


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("Create user model module", "Create order model module", False),
        ("Create invoice model module", "Create order model module", False),
        ("Validate column widths", "Show column widths", True),
        ("Sort rows of `table`", "Colour cells in `table`", True),
        ("Add tests", "Add docs", False),
        ("Add endpoint for login", "Add endpoint for logout", False),
        ("Parse ISO week dates", "Format ISO week dates", True),
        ("Write the parser", "Write the printer", False),
    ],
)
def test_titles_are_alike_by_what_distinguishes_them(first: str, second: str, together: bool) -> None:
    assert groups(planned(f"- [ ] 1.1 {first}\n- [ ] 1.2 {second}\n")) == ([("1.1", "1.2")] if together else [])


@pytest.mark.parametrize(
    "own",
    [
        "  - Agent: claude\n",
        "  - Approve: before\n",
        "  - Budget: $1\n",
        "  - Timeout: 5 min\n",
        "  - Needs: gpu\n",
        "  - Changes: none\n",
        "  - Tests: may change\n",
        "  About the login with a password.\n",
        "  - Files: a, b, c, d, e\n",
        "  - Depends on: 1.2\n",
    ],
)
def test_a_task_that_asks_for_something_of_its_own_stays_alone(own: str) -> None:
    assert groups(planned(f"- [ ] 1.1 One\n- [ ] 1.2 Two\n{own}", "section")) == []


def test_a_section_is_grouped_by_five_and_never_with_another() -> None:
    tasks = "".join(f"- [ ] 1.{number} Task {number}\n" for number in range(1, 8))
    found = planned(f"## A\n\n{tasks}\n## B\n\n- [ ] 2.1 Last\n- [ ] 2.2 Very last\n", "section")
    assert groups(found) == [("1.1", "1.2", "1.3", "1.4", "1.5"), ("1.6", "1.7"), ("2.1", "2.2")]
    assert found.waves == (("1.1", "1.6", "2.1"),)
    assert len(found.tasks) == 9


def test_no_group_is_made_around_a_task_that_stands_between() -> None:
    roadmap = (
        "## A\n\n- [ ] 1.1 One\n  - Files: f\n- [ ] 1.3 Three\n  - Files: f\n  - Depends on: 2.1\n"
        "\n## B\n\n- [ ] 2.1 Between\n  - Depends on: 1.1\n"
    )
    found = planned(roadmap)
    assert groups(found) == []
    assert found.waves == (("1.1",), ("2.1",), ("1.3",))


def test_a_circle_is_not_hidden_in_a_group() -> None:
    found = planned("- [ ] 1.1 One\n  - Depends on: 1.2\n- [ ] 1.2 Two\n  - Depends on: 1.1\n", "section")
    assert groups(found) == []
    assert [problem.kind for problem in found.problems if problem.fatal] == ["cycle"]


def test_in_the_order_of_the_outline_only_neighbours_are_grouped() -> None:
    roadmap = (
        "- [ ] 1.1 One\n  - Files: f\n- [ ] 1.2 Two\n- [ ] 1.3 Three\n  - Files: f\n- [ ] 1.4 Four\n  - Files: f\n"
    )
    assert groups(planned(roadmap)) == [("1.1", "1.3", "1.4")]
    found = planned(roadmap, sequence="outline")
    assert groups(found) == [("1.3", "1.4")]
    assert found.waves == (("1.1",), ("1.2",), ("1.3",))


def test_a_long_title_is_cut_at_the_end_of_a_task() -> None:
    tasks = "".join(f"- [ ] 1.{number} {'very long words ' * 2}in task {number}\n" for number in range(1, 6))
    title = planned(tasks, "section").task("1.1").title
    assert len(title) <= 100 and title.endswith("; and 3 more")


def test_thousands_of_tasks_are_grouped_at_once() -> None:
    tasks = "".join(
        f"- [ ] 1.{number} Parse `thing{number // 3}` rows of table {number}\n" for number in range(1, 5001)
    )
    assert len(groups(planned(tasks))) > 1000


def test_only_tasks_of_the_same_behaviour_share_an_attempt_and_hidden_checks_are_kept() -> None:
    found = planned(
        "## One\n\n"
        "- [ ] 1.1 Parse\n  - Files: a.py\n  - Verify hidden: `one`\n"
        "- [ ] 1.2 Print\n  - Files: a.py\n  - Verify hidden: `two`\n"
        "- [ ] 1.3 Tidy\n  - Files: a.py\n  - Behaviour: same\n"
    )
    assert groups(found) == [("1.1", "1.2")]
    assert found.task("1.1").verify_hidden == ("one", "two")
