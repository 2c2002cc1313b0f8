"""The lines below a task: Files, Verify, Depends on, Agent, Pattern, Budget, Timeout, Approve."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from milepost.core.budget import UNBOUNDED, Allowance
from milepost.core.task import Task
from milepost.roadmap import read


def only(below: str) -> Task:
    (task,) = read(f"- [ ] 1.1 Write it\n{below}".encode()).tasks
    return task


@pytest.mark.parametrize(
    "line",
    [
        "  - Files: a.py, src/b.py",
        "  - **Files:** `a.py`, `src/b.py`",
        "  - **Files**: a.py src/b.py",
        "  * __files__: `./a.py` (new), `src/b.py` (330 lines)",
        "  FILES: a.py (new), src/b.py.",
        "Files: a.py and src/b.py",
        "\n  Files: a.py,\n  src/b.py",
        "  - Files:\n    - a.py - the parser\n    - `src/b.py`: the rest",
        "  - **Files: a.py, src/b.py**",
        "  - File: a.py\n  - File: src/b.py\n  - File: a.py",
        "  - Files: New `a.py`, update `src/b.py`",
        "  - Files: [a.py](x/a.py), [src/b.py](y)",
    ],
)
def test_files_are_read_however_they_are_written(line: str) -> None:
    task = only(f"{line}\n")
    assert task.files == ("a.py", "src/b.py")
    assert task.text == ""


@pytest.mark.parametrize(
    ("below", "commands"),
    [
        ("  Verify: pytest -q tests/test_a.py", ["pytest -q tests/test_a.py"]),
        ("  - Verify: `pytest -q`", ["pytest -q"]),
        ("  - **Verify:** run `pytest -q` and `ruff check .`", ["pytest -q", "ruff check ."]),
        ("  - verify: a\n  - Verify: `b`\n  - Verify: a", ["a", "b"]),
        ("  - Verify:\n    - `pytest -q`\n    - ruff check .", ["pytest -q", "ruff check ."]),
        ("  Verify:\n  - pytest\n  - Files: x", ["pytest"]),
        (
            "  Verify:\n  ```sh\n  # all\n  $ pytest \\\n    -q\n  echo `id` ``x``\n  ```",
            ["pytest      -q", "echo `id` ``x``"],
        ),
        ("  - Verify:\n\n    ```\n    pytest\n    ```", ["pytest"]),
        ("  - Verify: pytest \\\n    -q", ["pytest -q"]),
        ("  - Verify: none", []),
        ("  - x\n  -\n  - Verify: a\n  -\n", ["a"]),
        ("  ```\n  Verify: no\n  ```", []),
    ],
)
def test_verify_gives_commands(below: str, commands: list[str]) -> None:
    task = only(f"{below}\n")
    assert [" ".join(command.split()) for command in task.verify] == [" ".join(command.split()) for command in commands]


def test_a_statement_belongs_to_the_nearest_box_above_it() -> None:
    task = only("  - [ ] 1.1.1 sub\n    Files: sub.py\n    Agent: claude\n  - Files: top.py\n")
    assert (task.files, task.agent) == (("top.py",), "")
    assert (task.subtasks[0].files, task.subtasks[0].agent) == (("sub.py",), "claude")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("  - Verfy: make test", "`Verfy:` is not read: did you mean `Verify:`?"),
        ("  Verfiy: make test", "`Verfiy:` is not read: did you mean `Verify:`?"),
        ("  - **Depend on:** 1.0", "`Depend on:` is not read: did you mean `Depends on:`?"),
        ("  - Verify `make test`", "this line is not read: a colon is missing, write `Verify: …`"),
    ],
)
def test_a_line_that_is_nearly_a_statement_is_told(line: str, said: str) -> None:
    roadmap = read(f"- [ ] 1.1 Write it\n{line}\n".encode())

    assert [(problem.line, problem.message, problem.fatal) for problem in roadmap.problems] == [(2, said, False)]


@pytest.mark.parametrize(
    "line",
    [
        "  Verify that it works",
        "  - Note: pytest",
        "  - Test: by hand",
        "  verification: see below",
        "  - `Verfy: x` is wrong",
        "  ```\n  Verfy: x\n  ```",
        "  - Verify: make test",
    ],
)
def test_prose_below_a_task_is_no_statement_with_a_slip(line: str) -> None:
    assert read(f"- [ ] 1.1 Write it\n{line}\n".encode()).problems == ()


def test_boxes_after_an_empty_verify_are_subtasks_and_it_is_said() -> None:
    roadmap = read(b"- [ ] 1.1 Write it\n  Verify:\n  - [ ] pytest\n")
    assert roadmap.tasks[0].verify == ()
    assert roadmap.tasks[0].subtasks[0].title == "pytest"
    assert [(problem.line, problem.message) for problem in roadmap.problems] == [(2, "this verify line names nothing")]


def test_an_agent_is_taken_as_it_is_named() -> None:
    assert only("  - Agent: `command:python fix.py --all`\n").agent == "command:python fix.py --all"


def test_a_pattern_is_an_agent_with_inputs() -> None:
    task = only('  Pattern: module_creation name=greetings kind=library description="Greets people" tags=\n')
    assert task.agent == "pattern:module_creation"
    assert task.inputs == (
        ("name", "greetings"),
        ("kind", "library"),
        ("description", "Greets people"),
        ("tags", ""),
    )


@pytest.mark.parametrize("value", ["use the repository pattern", 'module_creation name="open', '""'])
def test_a_pattern_line_that_names_no_pattern_stays_text_and_is_reported(value: str) -> None:
    roadmap = read(f"- [ ] 1.1 Write it\n  Pattern: {value}\n".encode())
    (task,) = roadmap.tasks
    assert (task.agent, task.text) == ("", f"Pattern: {value}")
    assert roadmap.problems[0].line == 2


def test_a_second_agent_is_ignored_and_reported() -> None:
    roadmap = read(b"- [ ] 1.1 Write it\n  Agent: claude\n  Pattern: readme\n")
    assert roadmap.tasks[0].agent == "claude"
    assert "claude" in roadmap.problems[0].message


STATED: dict[str, tuple[str, Callable[[Task], object], object]] = {
    "Files": ("a.py", lambda task: task.files, ("a.py",)),
    "Verify": ("pytest -q", lambda task: task.verify, ("pytest -q",)),
    "Depends on": ("T9", lambda task: task.depends_on, ("T9",)),
    "Blocked by": ("T9", lambda task: task.depends_on, ("T9",)),
    "Prerequisite": ("T9", lambda task: task.depends_on, ("T9",)),
    "Priority": ("high", lambda task: task.priority, "high"),
    "Agent": ("claude", lambda task: task.agent, "claude"),
    "Pattern": ("readme kind=short", lambda task: (task.agent, task.inputs), ("pattern:readme", (("kind", "short"),))),
    "Approve": ("before", lambda task: task.approve, "before"),
    "Budget": ("$1", lambda task: task.budget, Allowance(usd=1.0)),
    "Timeout": ("90 s", lambda task: task.timeout_s, 90.0),
    "Needs": ("docker", lambda task: task.needs, ("docker",)),
}


@pytest.mark.parametrize("key", STATED)
def test_every_line_is_read_bold_or_plain_in_a_list_or_not(key: str) -> None:
    value, field, expected = STATED[key]
    forms = ("{}: {}", "**{}**: {}", "**{}:** {}", "__{}__: {}", "*{}*: {}", "_{}:_ {}")
    leads = ("  ", "  - ", "  * ", "\n  ", "\n  1. ", "  - notes\n    - ", "  > ", "")
    for form, lead, spelling in product(forms, leads, (key, key.lower(), key.upper())):
        text = f"- [ ] 1.1 Write it\n{lead}{form.format(spelling, value)}\n\n- [ ] T9 other\n"
        assert field(read(text.encode()).tasks[0]) == expected, text


TASKS = (
    "- [ ] 1.1 Parse durations\n"
    "- [ ] T002 Format durations\n"
    "- [ ] Step 1: set up, then go\n"
    "- [ ] Step 10: clean\n"
    "- [ ] Parse dates\n"
    "  - [ ] 2.1 zones\n"
)


@pytest.mark.parametrize(
    ("below", "positions"),
    [
        ("  Depends on: 1.1", [0]),
        ("  - Depends: t002, **1.1**", [1, 0]),
        ("  - **Blocked by:** `1.1` and [T002]", [0, 1]),
        ("  - Depends on: 1.1 T002", [0, 1]),
        ("  - Depends on: task 1.1 (the parser)", [0]),
        ("  - Depends on: 1.1 Parse durations, T002: format", [0, 1]),
        ("  - Depends on: Format durations", [1]),
        ("  - Depends on: FORMAT", [1]),
        ("  - Depends on: Step 1", [2]),
        ("  - Depends on: Step 1: set up, then go", [2]),
        ("  - Depends on:\n    - 1.1\n    - T002", [0, 1]),
        ("  - Depends on: 2.1", [4]),
        ("  - Depends on: none", []),
    ],
)
def test_a_dependency_is_found_by_id_title_or_the_start_of_a_title(below: str, positions: list[int]) -> None:
    roadmap = read(f"{TASKS}- [ ] Last\n{below}\n".encode())
    assert roadmap.problems == ()
    assert roadmap.tasks[-1].depends_on == tuple(roadmap.tasks[position].id for position in positions)


@pytest.mark.parametrize(
    ("reference", "ids"),
    [
        ("Write the API docs for users", ["1.2"]),
        ("Write the [API docs](docs/api.md) for *users*", ["1.2"]),
        ("Write the **API docs**", ["1.2"]),
        ("`db` schema, *1.2*", ["1.1", "1.2"]),
        ("[`db` schema](#core)", ["1.1"]),
        ("[[1.2]]", ["1.2"]),
        ("1.1 - 1.3", ["1.1", "1.2", "1.3"]),
        ("1.1–1.2", ["1.1", "1.2"]),
        ("1.1 through 1.3", ["1.1", "1.2", "1.3"]),
        ("1.1 — it must be there", ["1.1"]),
        ("1.2: the docs", ["1.2"]),
        ("previous", ["1.3"]),
        ("the task above", ["1.3"]),
        ("all previous tasks", ["1.1", "1.2", "1.3"]),
        ("all of the above", ["1.1", "1.2", "1.3"]),
    ],
)
def test_a_dependency_is_found_by_the_words_of_a_title_by_a_range_and_by_place(reference: str, ids: list[str]) -> None:
    titles = ["1.1 `db` schema", "1.2 Write the [API docs](docs/api.md) for *users*", "1.3 Third\n  - [ ] 1.3.1 part"]
    text = "".join(f"- [ ] {title}\n" for title in titles)
    roadmap = read(f"{text}- [ ] Last\n  - Depends on: {reference}\n".encode())
    assert roadmap.problems == ()
    assert list(roadmap.tasks[-1].depends_on) == ids


def test_nobody_is_previous_to_the_first_task_and_siblings_are_to_a_subtask() -> None:
    roadmap = read(b"- [ ] 1 a\n  - [ ] 1.1 b\n  - [ ] 1.2 c\n    - Depends on: previous\n")
    (only,) = roadmap.tasks
    assert only.subtasks[1].awaits == ("1.1",)
    assert (only.depends_on, roadmap.problems) == ((), ())
    (problem,) = read(b"- [ ] 1 a\n  Depends on: previous\n").problems
    assert problem.fatal


def test_a_dependency_in_the_title_line_counts() -> None:
    roadmap = read(f"{TASKS}- [ ] **Last one (depends: 1.1, T002)**\n".encode())
    assert roadmap.tasks[-1].depends_on == ("1.1", "T002")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("9.9", "'9.9'"),
        ("Parse", "1.1, parse-"),
        ("T002 through 2.1", "'T002 through 2.1'"),
        ("\x1b[31mred", "'red'"),
    ],
)
def test_a_dependency_on_nobody_or_on_several_is_fatal_and_says_what_was_read(reference: str, said: str) -> None:
    roadmap = read(f"{TASKS}- [ ] 3.1 Last\n  - Depends on: 1.1, {reference}\n".encode())
    (problem,) = roadmap.problems
    assert problem.fatal
    assert problem.line == 8
    assert problem.message.startswith("3.1 depends on ")
    assert said in problem.message
    assert roadmap.tasks[-1].depends_on == ("1.1",)


def test_subtasks_of_one_task_do_not_make_it_wait_for_itself() -> None:
    roadmap = read(b"- [ ] 1 One (depends: 1.2)\n- [ ] A (depends: 1.2)\n  - [ ] 1.1 a\n  - [ ] 1.2 b (depends: 1.1)\n")
    assert roadmap.problems == ()
    first, second = roadmap.tasks
    assert first.depends_on == (second.id,)
    assert second.depends_on == ()
    assert second.subtasks[1].depends_on == ()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("  - Tests: may change", "tests_may_change"),
        ("  - **Tests**: `may change`.", "tests_may_change"),
        ("  Changes: none", "changes_nothing"),
        ("  - Changes: nothing", "changes_nothing"),
        ("  - Scope: files", "only_its_files"),
        ("  - Behaviour: same", "keeps_behaviour"),
        ("  **Behavior:** unchanged.", "keeps_behaviour"),
    ],
)
def test_what_the_author_allows_expects_or_forbids_is_read(line: str, says: str) -> None:
    task = only(f"{line}\n")
    terms = ("tests_may_change", "changes_nothing", "only_its_files", "keeps_behaviour")
    assert [term for term in terms if getattr(task, term)] == [says]
    assert task.text == ""


@pytest.mark.parametrize(
    "line",
    ["Tests: cover the edge cases", "Changes: the parser", "Scope: files and folders", "Behaviour: same as before 2.0"],
)
def test_a_sentence_that_begins_like_a_term_is_a_sentence(line: str) -> None:
    task = only(f"  {line}\n")
    assert not (task.tests_may_change or task.changes_nothing or task.only_its_files or task.keeps_behaviour)
    assert task.text == line


@pytest.mark.parametrize(
    ("line", "budget"),
    [
        ("Budget: $0.50", Allowance(usd=0.5)),
        ("Budget: at most 2 USD.", Allowance(usd=2.0)),
        ("Budget: `20k tokens`", Allowance(tokens=20_000)),
        ("Budget: 20,000 tokens", Allowance(tokens=20_000)),
        ("Budget: 1.5M tokens", Allowance(tokens=1_500_000)),
        ("Budget: 10 min", Allowance(seconds=600.0)),
        ("Budget: 1h30m", Allowance(seconds=5400.0)),
        ("Budget: 3 attempts", Allowance(attempts=3)),
        (
            "**Budget**: $.25, 5k tokens, 1 h 5 min and 2 tries",
            Allowance(usd=0.25, tokens=5000, seconds=3900.0, attempts=2),
        ),
        ("Budget: $2\n  Budget: $1, 10 s", Allowance(usd=1.0, seconds=10.0)),
        ("Budget:\n  - $1\n  - 10 s", Allowance(usd=1.0, seconds=10.0)),
    ],
)
def test_a_budget_is_read_in_money_tokens_time_and_attempts(line: str, budget: Allowance) -> None:
    task = only(f"  {line}\n")
    assert task.budget == budget
    assert task.text == ""


@pytest.mark.parametrize(
    "line",
    [
        "Budget: keep it cheap",
        "Budget: $O.50",
        "Budget: 50",
        "Budget: $0",
        "Budget: $0.5 a call",
        "Budget: $1e9",
        "Budget: -$5",
        "Budget: " + "9" * 5000 + " tokens",
        "Timeout: 10",
        "Timeout: $5",
        "Timeout: 10 min, $5",
        "Approve: befor",
        "Approve: by the team",
    ],
)
def test_a_bound_that_is_not_understood_holds_nothing_and_is_told(line: str) -> None:
    roadmap = read(f"- [ ] 1.1 Write it\n  {line}\n".encode())
    (task,) = roadmap.tasks
    assert (task.budget, task.timeout_s, task.approve) == (UNBOUNDED, None, "")
    assert task.text == line
    (problem,) = roadmap.problems
    assert (problem.line, problem.fatal) == (2, False)
    assert "has no effect" in problem.message


def test_the_time_of_an_attempt_and_when_a_person_is_asked_are_read() -> None:
    task = only("  - Timeout: 90 s\n  - Approve: Before\n")
    assert (task.timeout_s, task.approve, task.text) == (90.0, "before", "")


def test_bounds_below_a_subtask_are_told_to_hold_nothing() -> None:
    roadmap = read(b"- [ ] 1.1 One\n  - [ ] 1.1.1 Two\n    - Budget: $1\n")
    assert [(problem.line, problem.message) for problem in roadmap.problems] == [
        (2, "1.1.1 is done together with 1.1: write its limits below 1.1")
    ]
