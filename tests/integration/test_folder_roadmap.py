"""A roadmap that is a folder, wherever a roadmap is looked at beside a run: chaos, reports, contexts."""

from __future__ import annotations

from pathlib import Path

from milepost.core.task import Task
from milepost.engine.chaos.sample import CASSETTE, make_sample
from milepost.engine.chaos.subject import find_subject
from milepost.engine.context.git_facts import Tree, done_before
from milepost.engine.project.project import find_roadmap
from milepost.engine.records.journal import RunRecord
from milepost.engine.records.run_view import titles_of
from milepost.roadmap import read
from milepost.workspace.mileposts import milepost_message
from tests.integration.repositories import Place, new_place

FOLDER = "backlog/tasks"
PAGE = f"{FOLDER}/back-1 - One.md"


def with_a_page(tmp_path: Path) -> Place:
    place = new_place(tmp_path)
    place.write(PAGE, "---\nid: BACK-1\ntitle: One\nstatus: To Do\n---\n\nVerify: true\n")
    place.commit("A page")
    return place


def test_the_folder_above_the_pages_can_be_named(tmp_path: Path) -> None:
    place = with_a_page(tmp_path)
    assert find_roadmap(Path("backlog"), place.top) == place.top.resolve() / FOLDER


def test_chaos_is_tried_on_a_folder_that_is_committed(tmp_path: Path) -> None:
    place = with_a_page(tmp_path)
    cassette = make_sample(tmp_path / "sample", 2).parent / CASSETTE
    (tmp_path / "aside").mkdir()
    found = find_subject(place.top / FOLDER, cassette, None, tmp_path / "aside")
    assert (found.roadmap, found.tasks) == (FOLDER, ("BACK-1",))


def test_a_report_knows_the_titles_of_a_folder(tmp_path: Path) -> None:
    place = with_a_page(tmp_path)

    def titles(base: str) -> dict[str, str]:
        order = {"base": base, "roadmap": FOLDER, "manner": {"name": "tasks"}}
        record = RunRecord(run="r", version="", order=order, started_at=0, finished_at=None, summary=None, left_at=None)
        return titles_of(place.repository.git(tmp_path / "git"), record)

    assert titles(place.head) == {"BACK-1": "One"}
    assert titles("f" * 40) == {}, "what is not there any more has none"


def test_a_context_takes_no_page_of_the_roadmap_for_work(tmp_path: Path) -> None:
    place = with_a_page(tmp_path)
    place.write(PAGE, "---\nid: BACK-1\ntitle: One\nstatus: Done\n---\n")
    place.write("work.txt", "work\n")
    place.commit(milepost_message(task="BACK-1", title="One", run="r", attempt=1, agent="a", roadmap=FOLDER))
    git = place.repository.git(tmp_path / "git")
    (done,) = done_before(git, place.head, FOLDER, str)
    assert [path for path, _ in done.files] == ["work.txt"]
    task: Task = read(f"- [ ] 1.1 See `{PAGE}` and `work.txt`\n".encode()).tasks[0]
    assert "work.txt" in Tree(git, place.head, task, FOLDER, str).mentions.files
    assert PAGE not in Tree(git, place.head, task, FOLDER, str).mentions.files
