"""A task of the user's roadmap is edited on disk: whole or not at all, and only in the place of what was shown."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import milepost
from milepost.core.errors import RoadmapUnwritable

TEXT = "# Roadmap\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n  - Depends on: 1.1\n"


@pytest.fixture
def roadmap(tmp_path: Path) -> Path:
    path = tmp_path / "ROADMAP.md"
    path.write_text(TEXT)
    path.chmod(0o640)
    return path


def test_an_edit_is_made_in_the_place_of_what_was_shown_and_of_nothing_else(roadmap: Path) -> None:
    shown = milepost.task_text("1.1", roadmap)
    assert (shown.task, shown.text, shown.line) == ("1.1", "- [ ] 1.1 One", 3)
    edited = milepost.edit_task("1.1", shown.text + "\n  - Verify: true", roadmap, digest=shown.digest)
    assert roadmap.read_text() == TEXT.replace("One\n", "One\n  - Verify: true\n")
    assert (edited, roadmap.stat().st_mode & 0o777) == (milepost.task_text("1.1", roadmap), 0o640)
    before = roadmap.read_bytes()
    with pytest.raises(milepost.TaskChanged):
        milepost.edit_task("1.1", "- [ ] 1.1 Other", roadmap, digest=shown.digest)
    for text in ("- [ ] 1.1 One\n  - Depends on: 1.2", "- [ ] 1.1 One\n  - Depends on: 9.9"):
        with pytest.raises(milepost.EditRefused, match="no run could follow that"):
            milepost.edit_task("1.1", text, roadmap, digest=edited.digest)
    assert roadmap.read_bytes() == before


def test_of_two_who_edit_what_both_were_shown_one_is_refused(roadmap: Path) -> None:
    shown = milepost.task_text("1.2", roadmap)
    refused: list[milepost.MilepostError] = []

    def edit(word: str) -> None:
        try:
            milepost.edit_task("1.2", shown.text.replace("Two", word), roadmap, digest=shown.digest)
        except milepost.MilepostError as error:
            refused.append(error)

    edit("First")
    edit("Second")
    assert [type(error) for error in refused] == [milepost.TaskChanged]
    assert "First" in roadmap.read_text() and "Second" not in roadmap.read_text()


def test_edits_of_two_tasks_at_once_are_all_made(roadmap: Path) -> None:
    def edit(task: str) -> None:
        for number in range(8):
            milepost.edit_task(task, f"{milepost.task_text(task, roadmap).text}\n  - line {number}", roadmap)

    threads = [threading.Thread(target=edit, args=(task,)) for task in ("1.1", "1.2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [task.id for task in milepost.plan(roadmap).tasks] == ["1.1", "1.2"]
    assert roadmap.read_text().count("- line") == 16


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_roadmap_that_may_not_be_written_is_left_alone(roadmap: Path) -> None:
    roadmap.chmod(0o440)
    with pytest.raises(RoadmapUnwritable):
        milepost.edit_task("1.1", "- [ ] 1.1 Other", roadmap)
    assert roadmap.read_text() == TEXT
