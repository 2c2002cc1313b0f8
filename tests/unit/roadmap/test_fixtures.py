"""A roadmap of each format, as its tools and people write it, and what is read from it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.core.task import Task
from milepost.roadmap import read
from milepost.roadmap.reading.options import Manner

FOLDER = Path(__file__).resolve().parents[2] / "roadmaps"


def told(task: Task) -> Iterator[dict[str, Any]]:
    yield {
        "id": task.id,
        "title": task.title,
        "status": task.status,
        "line": task.line,
        "depends_on": list(task.depends_on),
        "files": list(task.files),
        "verify": list(task.verify),
        "phase": task.phase,
        "section": task.section,
        "priority": task.priority,
        "parallel": task.parallel,
        "text": task.text.split("\n") if task.text else [],
        "context": task.context.split("\n") if task.context else [],
        "subtasks": [one for subtask in task.subtasks for one in told(subtask)],
    }


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.md")), ids=lambda path: path.stem)
def test_a_roadmap_is_read_as_its_author_meant_it(path: Path) -> None:
    roadmap = read(path.read_bytes(), Manner(dialect="boxes"))
    found = {
        "tasks": [one for task in roadmap.tasks for one in told(task)],
        "problems": [f"{problem.line}: {problem.message}" for problem in roadmap.problems],
    }
    expected = path.with_suffix(".json")
    if os.environ.get("MILEPOST_WRITE_GOLDEN"):
        expected.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    assert found == json.loads(expected.read_text())


def test_the_example_of_the_page_about_roadmaps_says_what_the_page_says() -> None:
    page = (FOLDER.parents[1] / "docs" / "roadmaps.md").read_text()
    roadmap = read(page.split("```markdown\n")[1].split("```\n")[0].encode())
    hours, last = roadmap.tasks
    assert roadmap.problems == ()
    assert hours.id in page
    assert (hours.title, hours.priority, hours.files) == ("Parse hours", "high", ("durations/parse.py",))
    assert (last.id, last.title, last.depends_on) == ("1.9", "Write it down", (hours.id,))
