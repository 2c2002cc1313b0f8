"""The memory of a project whose state is on a server: the same calls, the same answers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

import milepost
from milepost.core.memories import Episode, EpisodeEnd, EpisodeStart, Lesson
from milepost.core.verdict import Verdict
from milepost.engine.memory.open_memory import waiting_rows
from milepost.engine.memory.unlearn import unlearn
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import load
from milepost.memory.memory import StoredMemory
from milepost.store.database import open_database
from milepost.workspace.mileposts import Milepost
from tests.e2e.conftest import make_machine


def test_a_memory_on_a_server_is_told_looked_at_exported_and_forgotten(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILEPOST_DATABASE", postgres)
    repo = make_machine(tmp_path).repo
    with milepost.open_memory(repo) as memory:
        name = memory.start("Count the stars", text="all of them\0")
        memory.log(name, tool="sh", action="look", result="error", observation="ValueError: too many")
        memory.complete(name, outcome="failure")
        assert memory.stats().episodes == {"failure": 1} and memory.doctor() == ()
        assert [one.id for one in memory.search("stars")] == [name]
        assert memory.recall("stars").lines == () and postgres not in memory.stats().place
        rows = memory.export(tmp_path / "all.jsonl")
        assert memory.import_(tmp_path / "all.jsonl", trusted=True).known == rows == 3
        assert memory.forget(name[:8], dry_run=True).episodes == (name,)
        assert memory.forget(name[:8]).episodes == (name,)
        assert memory.episodes() == () and memory.search("stars") == ()


def test_what_is_undone_is_unlearnt_on_the_server_and_only_in_its_own_project(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILEPOST_DATABASE", postgres)
    repo = make_machine(tmp_path).repo
    (repo / "ROADMAP.md").write_text("- [ ] 1.1 Count\n")
    (repo / "milepost.toml").write_text('[memory]\nproject = "ours"\nprimary = "primary.db"\n')
    project = Project.find(repo / "ROADMAP.md")
    with closing(open_database(postgres)) as database:
        memory = StoredMemory(database, shared=True)
        for name in ("ours", "theirs"):
            start = EpisodeStart(id=name, project=name, title="Count", started_at=1.0, run="ab12", task="1.1")
            end = EpisodeEnd(kind="success", ended_at=2.0, verdict=Verdict.PASSED)
            memory.record(Episode(start=start, end=end))
            lesson = Lesson(id=name, kind="usage", project=name, subject="count", text="`count`", made_at=2.0)
            memory.lessons.keep(lesson, [name])
        post = Milepost(
            commit="c" * 40, task="1.1", run="ab12", attempt=1, agent="a", title="Count", roadmap="ROADMAP.md"
        )
        assert unlearn(project, [post]) == ("ours",)
        states = {one.lesson.id: one.state for one in memory.lessons.standings()}
        assert states == {"ours": "quarantined", "theirs": "candidate"}
        ((waiting,),) = database.read("select count(*) from memory_outbox")
    assert waiting_rows(project, load(repo)) == waiting > 0
