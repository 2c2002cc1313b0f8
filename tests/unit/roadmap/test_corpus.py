"""Real roadmaps: the boxes that are read are the boxes that GitHub's rules find."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from milepost.core.task import Task
from milepost.roadmap import read, tick, untick
from milepost.roadmap.reading.options import Manner

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus"
BOXES = Manner(dialect="boxes", parents=False)

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus of roadmaps is not at {CORPUS}")


def roadmaps() -> list[Path]:
    return sorted(path for path in (CORPUS / "roadmaps").glob("*") if path.suffix in (".md", ".txt"))


def counted() -> dict[str, tuple[int, int]]:
    """Open and done boxes of each file, as they were counted when it was collected."""
    with (CORPUS / "roadmaps.csv").open(newline="") as listing:
        return {row["saved_as"]: (int(row["gfm_open"]), int(row["gfm_done"])) for row in csv.DictReader(listing)}


def boxes_of(content: bytes) -> tuple[int, int]:
    """Open and done boxes as markdown-it's own task lists see them."""
    markdown = MarkdownIt("commonmark", {"maxNesting": 200}).enable("table")
    markdown.use(front_matter_plugin).use(tasklists_plugin)
    inputs = [
        child.content
        for token in markdown.parse(content.decode("utf-8-sig"))
        for child in token.children or []
        if child.type == "html_inline" and 'class="task-list-item-checkbox"' in child.content
    ]
    done = sum("checked=" in content for content in inputs)
    return len(inputs) - done, done


def everyone(content: bytes) -> list[Task]:
    return [task for top in read(content, BOXES).tasks for task in top.walk()]


def test_every_file_of_the_corpus_is_a_roadmap_that_is_counted() -> None:
    assert {path.name for path in roadmaps()} == set(counted())
    assert len(roadmaps()) >= 51


@pytest.mark.parametrize("path", roadmaps(), ids=lambda path: path.name[:40])
def test_the_boxes_of_a_real_roadmap_are_counted_as_github_counts_them(path: Path) -> None:
    content = path.read_bytes()
    tasks = everyone(content)
    done = sum(task.status == "done" for task in tasks)
    assert (len(tasks) - done, done) == boxes_of(content) == counted()[path.name]
    assert len({task.id.casefold() for task in tasks}) == len(tasks)
    assert all(task.title.strip() for task in tasks)

    leaves = [task for task in tasks if task.status == "open" and not task.subtasks]
    for task in leaves[:1] + leaves[-1:]:
        ticked = tick(content, task.id, BOXES)
        assert sum(a != b for a, b in zip(content, ticked, strict=True)) == 1
        assert [one.id for one in everyone(ticked)] == [one.id for one in tasks]
        assert untick(ticked, task.id, BOXES) == content
