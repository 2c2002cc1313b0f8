"""What a task is like, by its files and its title."""

from __future__ import annotations

import pytest

from milepost.core.task import Task
from milepost.plan.advice.traits import Kind, Size, Traits, traits_of


def task(title: str, *files: str, text: str = "", subtasks: tuple[Task, ...] = ()) -> Task:
    return Task(id="1", title=title, status="open", line=1, files=files, text=text, subtasks=subtasks)


@pytest.mark.parametrize(
    ("title", "files", "kind"),
    [
        ("Add a parser", ("src/parser.py",), "code"),
        ("Add a parser", (), "code"),
        ("Document the fix", (), "docs"),
        ("Fix the documentation build", (), "fix"),
        ("Fix typos", ("README.md", "docs/guide.md"), "docs"),
        ("Describe the flow", ("docs/flow.svg",), "docs"),
        ("Cover the parser", ("tests/test_parser.py",), "tests"),
        ("Cover the parser", ("src/parser.test.ts",), "tests"),
        ("Write tests for the parser", (), "tests"),
        ("Latest prices", (), "code"),
        ("Rename Foo to Bar", ("a.py", "b.py"), "refactor"),
        ("Clean-up of the store", (), "refactor"),
        ("Run checks on push", (".github/workflows/ci.yml",), "config"),
        ("Set up linting", (), "config"),
        ("Bump httpx", ("pyproject.toml",), "dependency"),
        ("Upgrade django", (), "dependency"),
        ("Describe the package", ("pyproject.toml",), "config"),
        ("Add a parser", ("src/parser.py", "docs/parser.md"), "code"),
    ],
)
def test_the_kind_is_told_by_files_of_one_kind_else_by_the_first_word_that_tells(
    title: str, files: tuple[str, ...], kind: Kind
) -> None:
    assert traits_of(task(title, *files)).kind == kind


@pytest.mark.parametrize(
    ("one", "size"),
    [
        (task("Add f", "a.py"), "small"),
        (task("Add f", "a.py", "b.py"), "medium"),
        (task("Add f", "a.py", subtasks=(task("Then g"),)), "medium"),
        (task("Add f", "a.py", "b.py", subtasks=(task("Then", "c.py", "d.py"),)), "large"),
        (task("Add f", "a.py", text="word " * 500), "large"),
    ],
)
def test_the_size_is_told_by_files_and_words_with_those_of_subtasks(one: Task, size: Size) -> None:
    assert traits_of(one).size == size


def test_risk_weighs_most_then_the_kind_then_a_size_that_is_out_of_the_ordinary() -> None:
    assert traits_of(task("Refund a payment", "a.py")).by_weight == ("risky", "code", "small")
    assert Traits(kind="docs").by_weight == ("docs",)
