"""Real roadmaps: the boxes that are read are the boxes that GitHub's rules find."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from milepost.roadmap import read, tick
from milepost.roadmap.manner import Manner

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus of roadmaps is not at {CORPUS}")


def roadmaps() -> list[Path]:
    return sorted((CORPUS / "roadmaps").glob("*.md"))


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


@pytest.mark.parametrize("path", roadmaps(), ids=lambda path: path.name[:40])
def test_the_boxes_of_a_real_roadmap_are_counted_as_github_counts_them(path: Path) -> None:
    content = path.read_bytes()
    tasks = [task for top in read(content, Manner(dialect="boxes")).tasks for task in top.walk()]
    done = sum(task.status == "done" for task in tasks)
    assert (len(tasks) - done, done) == boxes_of(content)
    with (CORPUS / "roadmaps.csv").open(newline="") as listing:
        row = next((row for row in csv.DictReader(listing) if row["saved_as"] == path.name), None)
    if row is not None:
        assert (len(tasks) - done, done) == (int(row["gfm_open"]), int(row["gfm_done"]))

    for task in [task for task in tasks if task.status == "open" and not task.subtasks][:2]:
        assert sum(a != b for a, b in zip(content, tick(content, task.id, Manner(dialect="boxes")), strict=True)) == 1
