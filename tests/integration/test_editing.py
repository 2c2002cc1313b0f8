"""A task of the user's roadmap is edited on disk: whole or not at all, and only in the place of what was shown."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import milepost
from milepost import errors, roadmaps
from milepost.core.errors import CommitRefused, RoadmapUnwritable
from milepost.engine.project.state_lock import StateLock
from milepost.engine.records.journal import Journal
from tests import places
from tests.integration.repositories import Place, new_place

TEXT = "# Roadmap\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n  - Depends on: 1.1\n"


@pytest.fixture
def roadmap(tmp_path: Path) -> Path:
    path = tmp_path / "ROADMAP.md"
    path.write_text(TEXT)
    path.chmod(0o640)
    return path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = new_place(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    made.write("ROADMAP.md", TEXT)
    made.write("app.py", "x = 1\n")
    made.commit("Begin")
    return made


def test_an_edit_is_made_in_the_place_of_what_was_shown_and_of_nothing_else(roadmap: Path) -> None:
    shown = roadmaps.task_text("1.1", roadmap)
    assert (shown.task, shown.text, shown.line) == ("1.1", "- [ ] 1.1 One", 3)
    edited = roadmaps.edit_task("1.1", shown.text + "\n  - Verify: true", roadmap, digest=shown.digest)
    assert roadmap.read_text() == TEXT.replace("One\n", "One\n  - Verify: true\n")
    assert (edited, roadmap.stat().st_mode & 0o777) == (roadmaps.task_text("1.1", roadmap), 0o640)
    before = roadmap.read_bytes()
    with pytest.raises(errors.TaskChanged):
        roadmaps.edit_task("1.1", "- [ ] 1.1 Other", roadmap, digest=shown.digest)
    for text in ("- [ ] 1.1 One\n  - Depends on: 1.2", "- [ ] 1.1 One\n  - Depends on: 9.9"):
        with pytest.raises(errors.EditRefused, match="a run could not use that"):
            roadmaps.edit_task("1.1", text, roadmap, digest=edited.digest)
    assert roadmap.read_bytes() == before


def test_of_two_who_edit_what_both_were_shown_one_is_refused(roadmap: Path) -> None:
    shown = roadmaps.task_text("1.2", roadmap)
    refused: list[milepost.MilepostError] = []

    def edit(word: str) -> None:
        try:
            roadmaps.edit_task("1.2", shown.text.replace("Two", word), roadmap, digest=shown.digest)
        except milepost.MilepostError as error:
            refused.append(error)

    edit("First")
    edit("Second")
    assert [type(error) for error in refused] == [errors.TaskChanged]
    assert "First" in roadmap.read_text() and "Second" not in roadmap.read_text()


def test_edits_of_two_tasks_at_once_are_all_made(roadmap: Path) -> None:
    def edit(task: str) -> None:
        for number in range(8):
            roadmaps.edit_task(task, f"{roadmaps.task_text(task, roadmap).text}\n  - line {number}", roadmap)

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
        roadmaps.edit_task("1.1", "- [ ] 1.1 Other", roadmap)
    assert roadmap.read_text() == TEXT


def test_an_edit_is_committed_alone_under_the_users_name_and_without_their_hooks(place: Place) -> None:
    place.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n").chmod(0o755)
    place.write("staged.txt", "staged\n")
    place.git("add", "staged.txt")
    place.write("app.py", "x = 2\n")
    before = place.git("status", "--porcelain")
    edited = roadmaps.edit_task("1.1", "- [ ] 1.1 Ein & eins", place.top / "ROADMAP.md", commit=True)
    assert edited.commit == place.head
    assert place.git("show", "--format=%an <%ae> %s%n%b", "--name-only", "HEAD").split("\n") == [
        "Ada <ada@example.com> Edit task 1.1 in ROADMAP.md",
        "",
        "",
        "ROADMAP.md",
    ]
    assert place.git("status", "--porcelain") == before
    again = roadmaps.edit_task("1.1", edited.text, place.top / "ROADMAP.md", commit=True)
    assert (again.commit, place.head) == ("", edited.commit), "nothing to commit"


def test_what_cannot_be_committed_alone_is_refused_before_anything_is_written(place: Place) -> None:
    roadmap = place.top / "ROADMAP.md"
    head = place.head

    def refused(why: str) -> None:
        before = roadmap.read_bytes()
        with pytest.raises(CommitRefused, match=why):
            roadmaps.edit_task("1.1", "- [ ] 1.1 Other", roadmap, commit=True)
        assert (roadmap.read_bytes(), place.head) == (before, head)

    roadmap.write_text(TEXT + "\nMore.\n")
    refused("ROADMAP.md has changes that are not committed, in addition to this edit")
    place.git("add", "ROADMAP.md")
    refused("has changes that are not committed")
    place.git("reset", "--quiet", "--hard")
    with StateLock(places.made_state(place.top), "7f3a"):
        refused("run 7f3a is already in progress here")
    merging = place.write(".git/MERGE_HEAD", f"{head}\n")
    refused("something is unfinished in your working tree")
    merging.unlink()
    place.git("config", "filter.lock.clean", "tr a-z A-Z")
    attributes = place.write(".git/info/attributes", "*.md filter=lock\n")
    refused("goes through a git filter")
    attributes.unlink()
    (place.home / ".gitconfig").write_text("[commit]\ngpgSign\n")
    refused("your git signs commits")
    (place.home / ".gitconfig").write_text(f"[core]\nattributesFile = {place.home}/attributes\n")
    (place.home / "attributes").write_text("*.md ident\n")
    roadmap.write_text(TEXT + "\n$Id: 1$\n")
    head = place.commit("Say which version it is")
    refused("your git settings change what is committed of ROADMAP.md")


def test_an_edit_is_not_committed_where_a_run_is_not_over_or_its_work_is_not_taken_in(place: Place) -> None:
    roadmap, (left, over) = place.top / "ROADMAP.md", ("7f3a", "7f3b")
    places.made_state(place.top)
    with Journal(places.database(place.top)) as journal:
        journal.open_run(left, "1", {"user": {"branch": "main"}})
        with pytest.raises(CommitRefused, match="run 7f3a is unfinished, and will update your branch when it ends"):
            roadmaps.edit_task("1.1", "- [ ] 1.1 Other", roadmap, commit=True)
        journal.leave_run(left)
        journal.open_run(over, "1", {"user": {"branch": "main"}})
        journal.leave_run(over)
    begun = place.head
    made = place.commit("What the run made")
    place.git("branch", f"milepost/{over}")
    place.git("reset", "--quiet", "--hard", begun)
    with pytest.raises(CommitRefused, match="your branch lacks the commits of run 7f3b") as refused:
        roadmaps.edit_task("1.1", "- [ ] 1.1 Other", roadmap, commit=True)
    assert (roadmap.read_text(), place.head) == (TEXT, begun)
    place.git(*refused.value.advice.partition(",")[0].split()[1:])
    assert place.head == made
    assert roadmaps.edit_task("1.1", "- [ ] 1.1 Other", roadmap, commit=True).commit == place.head


def test_a_file_is_committed_as_the_users_own_settings_say(place: Place) -> None:
    roadmap = place.top / "ROADMAP.md"
    (place.home / ".gitconfig").write_text("[core]\nautocrlf = true\n[author]\nname = Countess\n")
    roadmap.unlink()
    place.git("checkout", "--", "ROADMAP.md")
    assert roadmap.read_bytes().count(b"\r\n") == 5
    roadmaps.edit_task("1.1", "- [ ] 1.1 Ein", roadmap, commit=True)
    assert roadmap.read_bytes() == TEXT.replace("One", "Ein").replace("\n", "\r\n").encode()
    assert place.git("show", "--format=%an, %cn", "--numstat", "HEAD").split("\n") == [
        "Countess, Ada",
        "",
        "1\t1\tROADMAP.md",
    ]
    assert place.git("status", "--porcelain") == ""
