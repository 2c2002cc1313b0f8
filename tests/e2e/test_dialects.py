"""Roadmaps that were written for other people, planned and explained from the command line."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Sandbox

FILES = {
    "TODO.md": ("# TODO\n\n- ✅ Parse\n- ⏳ Print\n", "an emoji list", ["Print"]),
    "todo.txt": ("(A) Parse\nx Print\n", "", ["Parse"]),
    "tasks.json": ('{"tasks": [{"id": 1, "title": "Parse", "status": "pending"}]}\n', "", ["Parse"]),
    "PLAN.md": ("## Implementation plan\n\n1. Parse\n2. Print\n", "plain lists", ["Parse", "Print"]),
}


@pytest.mark.parametrize("name", FILES)
def test_a_roadmap_of_another_form_is_planned_by_its_name(sandbox: Sandbox, name: str) -> None:
    text, guess, still_open = FILES[name]
    sandbox.write(name, text)
    facts, how = sandbox.milepost("plan", name).stdout.splitlines()[:2]
    assert facts.startswith(f"{name} · ") and "read as" not in facts
    assert how == (f"read as {guess} (a guess: milepost plan --explain)" if guess else "")
    tasks = sandbox.milepost("plan", name, "--json").json["tasks"]
    assert [task["title"] for task in tasks if task["status"] == "open"] == still_open
    assert [task.get("guess", False) for task in tasks] == [bool(guess)] * len(tasks)


def test_a_plan_is_explained_line_by_line(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Parse \x1b[31mit\n\n```\n- [ ] 9.9 an example\n```\n")
    answer = sandbox.milepost("plan", "--explain")
    assert answer.stdout.splitlines() == [
        "ROADMAP.md is read as a task list: it has boxes",
        "1 line read as tasks, 1 not",
        "",
        'line 1  task   1.1 "Parse it": an open box',
        "line 4  –      inside a fenced block",
    ]
    assert sandbox.milepost("plan", "--explain", "--json").json["explain"] == {
        "dialect": "boxes",
        "why": "it has boxes",
        "lines": [
            {"line": 1, "taken": True, "why": "an open box"},
            {"line": 4, "taken": False, "why": "inside a fenced block"},
        ],
    }


def test_of_prose_it_is_said_what_to_do(sandbox: Sandbox) -> None:
    sandbox.roadmap("# Idea\n\nWe want it all.\n")
    (problem,) = sandbox.milepost("plan", "--json").json["problems"]
    assert problem["message"].endswith("let a model read it: milepost roadmap normalise")
    assert sandbox.milepost("plan", "--explain").stdout.startswith("ROADMAP.md has no task: ")


def test_the_settings_name_the_dialect(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] a box\n\n| Task | Status |\n|---|---|\n| a row | Todo |\n")
    sandbox.write("milepost.toml", '[roadmap]\ndialect = "table"\n')
    tasks = sandbox.milepost("plan", "--json").json["tasks"]
    assert [task["title"] for task in tasks] == ["a row"]
    assert "the settings name it" in sandbox.milepost("plan", "--explain").stdout
