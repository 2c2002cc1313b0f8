"""Phases, sections and what they say to the tasks below them; and what earlier readers of this format got wrong."""

from __future__ import annotations

import pytest

from milepost.core.task import Roadmap, Task
from milepost.plan.graph.build_graph import plan
from milepost.roadmap import read, tick


def read_text(text: str) -> Roadmap:
    return read(text.encode())


def by_title(text: str) -> dict[str, Task]:
    return {task.title: task for task in read_text(text).tasks}


PHASE = """\
# The plan

What this is all about.

## Phase 1: Base

> **Goal**: a base to build on
> **Priority**: HIGH (all else waits)
> **Effort**: 3 h

Words about the base.

### 1.1 Parser

**Files**: `a.py`, `b.py`

Words about the parser.

- [ ] **Parse durations** with care
- [ ] **Print durations** again
  **Files**: `c.py`

### Setup

- [ ] Make a folder

## Phase 2: Top

> **Prerequisite**: Phase 1

- [ ] Finish it
"""


@pytest.mark.parametrize(
    "heading",
    [
        "## Phase 1: Base",
        "## phase 1 - Base",
        "## PHASE 1 — Base",
        "## Phase 1 – Base",
        "## **Phase 2.5: Base**",
        "## Phase A: Base",
        "## Phase Alpha: Base",
        "Phase 0: Base\n---",
    ],
)
def test_a_phase_is_one_in_every_spelling(heading: str) -> None:
    roadmap = read_text(f"# R\n\n## Notes\n\n{heading}\n\n### Part\n- [ ] a\n")
    (task,) = roadmap.tasks
    assert task.phase == heading.strip("#* ").split("\n")[0]
    assert task.section == "Part"


def test_a_phase_gives_its_tasks_a_priority_and_its_words_but_not_the_ones_of_the_whole_roadmap() -> None:
    tasks = by_title(PHASE)
    assert [task.priority for task in tasks.values()] == ["high", "high", "high", ""]
    context = tasks["Parse durations"].context
    assert [line for line in context.split("\n") if line] == [
        "**Goal**: a base to build on",
        "**Priority**: HIGH (all else waits)",
        "**Effort**: 3 h",
        "Words about the base.",
        "Words about the parser.",
    ]
    assert "parser" not in tasks["Make a folder"].context
    assert tasks["Finish it"].context == "**Prerequisite**: Phase 1"


def test_the_files_of_a_section_are_those_of_its_tasks_alone_and_a_task_names_its_own() -> None:
    tasks = by_title(PHASE)
    assert tasks["Parse durations"].files == ("a.py", "b.py")
    assert tasks["Print durations"].files == ("c.py",)
    assert tasks["Make a folder"].files == tasks["Finish it"].files == ()


def test_a_phase_that_requires_another_waits_for_all_of_its_tasks() -> None:
    tasks = by_title(PHASE)
    assert tasks["Finish it"].depends_on == tuple(task.id for task in read_text(PHASE).tasks[:3])
    assert tasks["Make a folder"].depends_on == ()


@pytest.mark.parametrize(
    ("value", "waits_for"),
    [
        ("Phase 1", "ab"),
        ("Phase 1 complete", "ab"),
        ("Phases 1 and 2 (both)", "abc"),
        ("Phase 1, Phase 2", "abc"),
        ("Phase 2: Middle", "c"),
        ("Middle", "c"),
        ("section 1.2", "b"),
        ("1.2", "b"),
        ("t7", "c"),
        ("Phase 9", ""),
        ("Docker and a good mood", ""),
        ("none", ""),
        ("Phase 3", ""),
    ],
)
def test_a_prerequisite_that_names_no_task_is_prose(value: str, waits_for: str) -> None:
    roadmap = read_text(
        "## Phase 1: First\n### 1.1 One\n- [ ] a\n### 1.2 Two\n- [ ] b\n## Phase 2: Middle\n- [ ] T7 c\n"
        f"## Phase 3: Last\n> **Prerequisite**: {value}\n\n- [ ] d\n- [ ] e\n"
    )
    assert not roadmap.problems
    names = {task.id: task.title for task in roadmap.tasks}
    for last in roadmap.tasks[-2:]:
        assert "".join(names[name] for name in last.depends_on) == waits_for
        assert value in last.context


@pytest.mark.parametrize(
    ("reference", "waits_for"),
    [
        ("1.2", "b"),
        ("Section 1.2", "b"),
        ("1.2 Two", "b"),
        ("Two", "b"),
        ("Phase 1", "ab"),
        ("phase 1 — First", "ab"),
        ("Phase 1: First, T9", "abc"),
        ("1", "ab"),
        ("Group", "e"),
    ],
)
def test_a_dependency_may_name_a_section_or_a_phase(reference: str, waits_for: str) -> None:
    roadmap = read_text(
        "## Phase 1: First\n### 1.1 One\n- [ ] a\n### 1.2 Two\n- [ ] b\n## Phase 2: Middle\n"
        f"- [ ] T9 c\n- [ ] d\n  Depends on: {reference}\n- Group\n  - [ ] e\n"
    )
    assert not roadmap.problems
    names = {task.id: task.title for task in roadmap.tasks}
    (task,) = (task for task in roadmap.tasks if task.title == "d")
    assert "".join(names[name] for name in task.depends_on) == waits_for


def test_a_task_that_waits_for_its_own_phase_waits_for_the_others_in_it() -> None:
    roadmap = read_text("## Phase 1: All\n- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 Release (depends on: Phase 1)\n")
    assert roadmap.tasks[-1].depends_on == ("1.1", "1.2")


def test_a_prerequisite_makes_no_task_wait_for_itself() -> None:
    roadmap = read_text(
        "## Phase 1: All\n> **Prerequisite**: Phase 1, part\n\n- [ ] 1.1 a\n  Prerequisite: 1.1\n"
        "  - [ ] part\n    Prerequisite: 1.1, 1.2\n- [ ] 1.2 b\n"
    )
    assert [task.depends_on for top in roadmap.tasks for task in top.walk()] == [(), ("1.2",), ()]


def test_a_heading_of_which_there_are_several_is_fatal_as_a_dependency_and_all_are_named() -> None:
    roadmap = read_text("## A\n### Tests\n- [ ] a\n## B\n### Tests\n- [ ] b\n## C\n- [ ] c (depends on: Tests)\n")
    (problem,) = roadmap.problems
    assert problem.fatal
    assert "A / Tests, B / Tests" in problem.message


def test_what_is_above_a_task_is_cut_and_the_nearest_is_kept() -> None:
    long = "word " * 2000
    (task,) = read_text(f"## P\n\n{long}\n\n### S\n\n{long}\n\n#### T\n\nNear.\n\n- [ ] a\n").tasks
    assert len(task.context) <= 4000
    assert task.context.endswith("Near.")


def test_code_and_statements_right_after_a_list_are_about_its_last_task_and_other_words_about_the_section() -> None:
    first, last = read_text(
        "## P\n- [ ] 1.1 a\n- [ ] 1.2 b\n\n```py\nx = 1\n- [ ] no\n```\n\nVerify: pytest\n\nA checkpoint.\n"
    ).tasks
    assert (first.text, first.verify) == ("", ())
    assert (last.text, last.verify) == ("```py\nx = 1\n- [ ] no\n```", ("pytest",))
    assert first.context == last.context == "A checkpoint."


def test_files_between_two_lists_are_those_of_the_second_and_after_the_last_of_its_last_task() -> None:
    text = (
        "### 1.1 S\n**Files**: `a.py`\n- [ ] a\n\n**File**: `b.py`\n\n- [ ] b\n- [ ] c\n\nFiles:\n- d.py\n\n* [ ] d\n"
    )
    assert [task.files for task in read_text(text).tasks] == [("a.py",), ("b.py",), ("b.py",), ("d.py",)]
    assert {task.context for task in read_text(text).tasks} == {""}
    first, last = read_text("### 1.1 S\n- [ ] a\n- [ ] b\n\n**Files**: `b.py`\n").tasks
    assert (first.files, last.files) == ((), ("b.py",))


def test_a_statement_that_holds_for_no_task_is_said_with_its_line() -> None:
    roadmap = read_text("## P\n\nVerify: pytest\n\n- [ ] a\n")
    assert [(problem.line, problem.fatal) for problem in roadmap.problems] == [(3, False)]
    assert "Verify: pytest" in roadmap.tasks[0].context


@pytest.mark.parametrize(
    ("text", "priority"),
    [
        ("## High Priority\n- [ ] a", "high"),
        ("## Low priority\n- [ ] a", "low"),
        ("## Phase 3: Story (Priority: P2)\n- [ ] a", "medium"),
        ("## P\n**Priority**: Critical\n\n- [ ] a", "high"),
        ("## P\n> **Priority:** medium\n\n- [ ] a\n  Priority: low", "low"),
        ("- [ ] a\n  - **Priority**: High", "high"),
        ("- [ ] a\n  - Priority: whenever", ""),
    ],
)
def test_a_priority_is_read_from_a_heading_a_phase_or_a_task(text: str, priority: str) -> None:
    assert read_text(text).tasks[0].priority == priority


# What earlier readers of this format got wrong.


def test_boxes_and_phases_in_code_are_neither_tasks_nor_phases() -> None:
    (task,) = read_text("## Phase 1: A\n- [ ] a\n  ```\n  - [ ] b\n  ```\n\n~~~\n## Phase 2: B\n- [ ] c\n~~~\n").tasks
    assert (task.title, task.phase) == ("a", "Phase 1: A")
    assert "- [ ] b" in task.text


def test_tasks_before_the_first_section_and_the_first_phase_are_tasks() -> None:
    text = "- [ ] a\n# R\n- [ ] b\n## Phase 1: P\n- [ ] c\n### 1.1 S\n- [ ] d\n"
    assert [(task.title, task.phase, task.section) for task in read_text(text).tasks] == [
        ("a", "", ""),
        ("b", "R", ""),
        ("c", "Phase 1: P", ""),
        ("d", "Phase 1: P", "1.1 S"),
    ]


def test_a_section_needs_no_number_and_keeps_its_files_to_itself() -> None:
    tasks = by_title("### Setup\n**Files**: `a.py`\n\n- [ ] a\n### Rest\n- [ ] b\n### 1.3 More\n- [ ] c\n")
    assert [(task.section, task.files) for task in tasks.values()] == [
        ("", ("a.py",)),
        ("", ()),
        ("", ()),
    ]
    assert [task.phase for task in tasks.values()] == ["Setup", "Rest", "1.3 More"]


def test_no_two_tasks_have_one_id_though_phases_repeat_and_sections_are_numbered_anyhow() -> None:
    section = "- [ ] Write it\n- [ ] Test it\n"
    text = "".join(
        f"## Phase {phase}: X\n### {number} S\n{section}" for phase in (1, 1, 2) for number in ("1.1", "1.2.1")
    )
    tasks = read_text(text).tasks
    assert len({task.id.casefold() for task in tasks}) == len(tasks) == 12


def test_a_bold_number_is_the_id_and_the_words_after_it_the_title() -> None:
    (task,) = read_text("- [ ] **1.1** Do X\n").tasks
    assert (task.id, task.title) == ("1.1", "Do X")


def test_an_indented_line_of_files_belongs_to_its_task() -> None:
    first, second = read_text("### 1.1 S\n**Files**: `s.py`\n- [ ] a\n  **Files**: `a.py`\n- [ ] b\n").tasks
    assert (first.files, second.files) == (("a.py",), ("s.py",))


def test_what_cannot_be_understood_is_reported_with_its_line_and_not_raised() -> None:
    roadmap = read_text("## Phase 1: P\n- [ ] 1.1 a\n- [ ] 1.1 b\n- [ ] c\n  Depends on: nobody\n  Budget: much\n")
    assert [(problem.line, problem.fatal) for problem in roadmap.problems] == [(3, False), (5, True), (6, False)]


def test_the_line_of_a_subtask_is_its_line_in_the_file() -> None:
    (task,) = read_text("# R\n\n## Phase 1: P\n\n- [ ] a\n\n  Words.\n\n  - [ ] b\n    - [x] c\n").tasks
    assert [member.line for member in task.walk()] == [5, 9, 10]


def test_editing_a_roadmap_does_not_map_tasks_to_others() -> None:
    before = "## Phase 1: P\n### 1.1 S\n- [ ] a\n- [ ] b\n### 1.2 T\n- [ ] c\n"
    after = "## Phase 1: P\n### 1.1 S\n- [ ] new\n- [ ] b\n### 1.2 T\n- [ ] c\n- [ ] a\n"
    ids = {task.title: task.id for task in read_text(after).tasks}
    assert {ids["b"], ids["c"]} == {task.id for task in read_text(before).tasks if task.title != "a"}


def test_what_a_generator_writes_as_bold_tasks_below_small_headings_is_read_with_all_it_says() -> None:
    roadmap = read_text(
        "# Feature\n\n## Overview\n\nWords.\n\n## Tasks\n\n### Phase 1: Base\n\n"
        "- [ ] **Task 1.1**: Make the model\n  - Files: `src/model.py`\n  - Depends on: None\n"
        "- [ ] **Task 1.2**: Store it\n  - Files: `src/store.py`\n  - Depends on: Task 1.1\n\n### Phase 2: Top\n\n"
        "- [ ] **Task 2.1**: Serve it\n  Depends on: Task 1.1, Task 1.2\n"
    )
    assert not roadmap.problems
    assert [(task.id, task.title, task.phase, task.files, task.depends_on) for task in roadmap.tasks] == [
        ("1.1", "Make the model", "Phase 1: Base", ("src/model.py",), ()),
        ("1.2", "Store it", "Phase 1: Base", ("src/store.py",), ("1.1",)),
        ("2.1", "Serve it", "Phase 2: Top", (), ("1.1", "1.2")),
    ]


def test_the_second_of_two_tasks_called_add_tests_is_ticked_and_not_the_first() -> None:
    content = b"## Phase 1: P\n- [ ] **Add tests**\n- [ ] **Add tests**\n"
    assert tick(content, read(content).tasks[1].id).count(b"[x]") == 1
    assert tick(content, read(content).tasks[1].id).endswith(b"- [x] **Add tests**\n")


def test_a_tenth_task_comes_after_the_second() -> None:
    roadmap = read_text(
        "- [ ] 1.1.10 c\n  Verify: true\n- [ ] 1.1.2 b\n  Verify: true\n- [ ] 1.1.1 a\n  Verify: true\n"
    )
    assert plan(roadmap).waves[0] == ("1.1.1", "1.1.2", "1.1.10")
