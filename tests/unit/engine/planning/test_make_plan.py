"""A roadmap's bytes as a plan: what is done although no box says so, and how it is read and planned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from milepost.core.task import Roadmap, Task, TaskStatus
from milepost.engine.planning.make_plan import current_tag, manner_of, planned, planning_of, settled, ways_of
from milepost.engine.project.settings.settings import Settings
from milepost.plan.options import Planning
from milepost.plan.repository_facts import RepositoryFacts
from milepost.roadmap.reading.options import Manner

HERE = Manner(name="ROADMAP.md")
BULLETS = b"# Plan\n\n1. Write a\n2. Write b\n"
BOXES = b"- [ ] 1.1 Write a\n- [ ] 1.2 Write b\n"


def a_task(name: str, status: TaskStatus = "open", *subtasks: Task, tickable: bool = True) -> Task:
    return Task(id=name, title=name, status=status, line=1, subtasks=subtasks, tickable=tickable)


def statuses(roadmap: Roadmap) -> dict[str, str]:
    return {task.id: task.status for top in roadmap.tasks for task in top.walk()}


@pytest.mark.parametrize(
    ("tasks", "ended", "expected"),
    [
        ((a_task("A", tickable=False),), {"A"}, {"A": "done"}),
        ((a_task("A", tickable=False),), {"a"}, {"A": "done"}),
        ((a_task("A", tickable=False), a_task("B", tickable=False)), {"B"}, {"A": "open", "B": "done"}),
        ((a_task("A"), a_task("B", tickable=False)), {"A", "B"}, {"A": "open", "B": "done"}),
        ((a_task("A", "open", a_task("A.1", tickable=False)),), {"A", "A.1"}, {"A": "open", "A.1": "done"}),
        ((a_task("A", tickable=False),), set[str](), {"A": "open"}),
    ],
    ids=["a milepost", "in other letters", "of one of two", "what has a box", "a subtask", "no milepost"],
)
def test_what_has_no_box_is_done_once_it_has_a_milepost(
    tasks: tuple[Task, ...], ended: set[str], expected: dict[str, str]
) -> None:
    assert statuses(settled(Roadmap(tasks=tasks), lambda: frozenset(ended))) == expected


def test_nobody_looks_for_mileposts_where_every_box_can_be_ticked() -> None:
    def ended() -> frozenset[str]:
        raise AssertionError("nobody asks")

    roadmap = Roadmap(tasks=(a_task("A"), a_task("B", "done", tickable=False)))
    assert settled(roadmap, ended) is roadmap
    assert [task.id for task in planned(BOXES, HERE, ended=ended).tasks] == ["1.1", "1.2"]


def test_a_plan_without_boxes_has_done_what_has_a_milepost() -> None:
    first, second = planned(BULLETS, HERE).tasks
    assert (first.status, second.status) == ("open", "open")
    again = planned(BULLETS, HERE, ended=lambda: frozenset({first.id.upper()}))
    assert [(task.id, task.status) for task in again.tasks] == [(first.id, "done"), (second.id, "open")]
    assert again.waves == ((second.id,),)


def test_the_repository_is_looked_at_for_the_tasks_that_were_read() -> None:
    seen: list[str] = []

    def look(tasks: Sequence[Task]) -> RepositoryFacts:
        seen.extend(f"{task.id} {task.status}" for task in tasks)
        return RepositoryFacts(missing={"no-such --all": ("no-such",)})

    content = BOXES + b"  - Verify: `no-such --all`\n"
    found = planned(content, HERE, look=look)
    assert seen == ["1.1 open", "1.2 open"]
    assert any("no-such" in problem.message for problem in found.problems)
    assert not any("no-such" in problem.message for problem in planned(content, HERE).problems)


@pytest.mark.parametrize(
    ("roadmap", "state", "tag"),
    [
        ("tasks/tasks.json", b'{"currentTag": "beta"}', "beta"),
        ("tasks/tasks.json", b'{"currentTag": 3}', ""),
        ("tasks/tasks.json", b'["currentTag"]', ""),
        ("tasks/tasks.json", b"{", ""),
        ("tasks/tasks.json", None, ""),
        ("tasks/ROADMAP.md", b'{"currentTag": "beta"}', ""),
    ],
    ids=["named", "no text", "no table", "no JSON", "nothing there", "no task-master file"],
)
def test_the_current_tag_is_read_above_the_folder_of_the_tasks(
    tmp_path: Path, roadmap: str, state: bytes | None, tag: str
) -> None:
    if state is not None:
        (tmp_path / "state.json").write_bytes(state)
    assert current_tag(tmp_path / roadmap) == tag


def test_the_settings_say_how_a_roadmap_is_read_and_planned(tmp_path: Path) -> None:
    path = tmp_path / "PLAN.md"
    given = Settings.model_validate(
        {
            "roadmap": {"dialect": "bullets", "tick_parents": False},
            "plan": {"order": "outline", "group": "smart", "unit": "subtask", "imports": False},
        }
    )
    assert manner_of(given, path) == Manner(name="PLAN.md", dialect="bullets", parents=False)
    assert planning_of(given) == Planning(sequence="outline", grouping="smart", unit="subtask", imports=False)


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        (None, None, (Manner(name="PLAN.md"), Planning())),
        (None, "bullets", (Manner(name="PLAN.md", dialect="bullets"), Planning())),
        ('[plan]\norder = "outline"\n', None, (Manner(name="PLAN.md"), Planning(sequence="outline"))),
        ('[roadmap]\ndialect = "boxes"\n', "bullets", (Manner(name="PLAN.md", dialect="bullets"), Planning())),
    ],
    ids=["no settings", "asked for", "settings", "asked for before the settings"],
)
def test_the_settings_beside_a_roadmap_count_and_a_dialect_that_is_asked_for_before_them(
    tmp_path: Path, text: str | None, dialect: str | None, expected: tuple[Manner, Planning]
) -> None:
    if text is not None:
        (tmp_path / "milepost.toml").write_text(text)
    assert ways_of(tmp_path / "PLAN.md", dialect=dialect) == expected
