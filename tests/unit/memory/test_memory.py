"""Episodes and lessons, kept in a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.errors import EpisodeUnknown
from milepost.core.memories import Assessment, Episode, EpisodeEnd, EpisodeStart, EpisodeStep, Lesson, Showing, Vote
from milepost.core.verdict import Verdict
from milepost.memory.memory import StoredMemory
from milepost.store.database import open_database

START = EpisodeStart(id="a1", project="clock", title="Parse hours", started_at=10.0, run="7f3a", task="1.1")
END = EpisodeEnd(kind="success", ended_at=20.0, verdict=Verdict.PASSED, duration_ms=10_000, cost_usd=0.5)
LESSON = Lesson(id="l1", kind="usage", project="clock", subject="mint", text="`mint('inv')`", made_at=20.0)


@pytest.fixture
def memory() -> Iterator[StoredMemory]:
    with closing(open_database(":memory:")) as database:
        yield StoredMemory(database)


def test_an_episode_is_there_step_by_step_for_the_next_process(tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "m.db")) as database:
        journal = StoredMemory(database).journal
        journal.start(START)
        assert journal.log("a1", EpisodeStep(tool="shell", action="run tests", result="error", signature="E #")) == 1
        assert journal.log("a1", EpisodeStep(tool="write", action="a.py", parameters={"lines": 3})) == 2
    with closing(open_database(tmp_path / "m.db")) as database:
        journal = StoredMemory(database).journal
        journal.complete("a1", END, Assessment())
    with closing(open_database(tmp_path / "m.db")) as database:
        found = StoredMemory(database).journal.episode("a1")
        assert found is not None
        assert found.start == START
        assert found.end == END
        assert [(step.number, step.tool, step.result) for step in found.steps] == [
            (1, "shell", "error"),
            (2, "write", "success"),
        ]
        assert found.passed and found.verified


def test_an_episode_is_kept_as_it_was_first_told(memory: StoredMemory) -> None:
    memory.record(Episode(start=START, end=END))
    memory.record(Episode(start=replace(START, title="Other"), end=replace(END, verdict=Verdict.FAILED)))
    (found,) = memory.journal.ended()
    assert (found.start.title, found.passed) == ("Parse hours", True)
    assert [(took.run, took.task, took.cost_usd) for took in memory.journal.took(10)] == [("7f3a", "1.1", 0.5)]


def test_nothing_is_added_to_what_has_ended_or_never_began(memory: StoredMemory) -> None:
    memory.record(Episode(start=START, end=END))
    for episode in ("a1", "a2"):
        with pytest.raises(EpisodeUnknown):
            memory.journal.log(episode, EpisodeStep(tool="shell", action="late"))
        with pytest.raises(EpisodeUnknown):
            memory.journal.complete(episode, replace(END, ended_at=21.0), Assessment())
    memory.journal.complete("a1", END, Assessment())  # the same again, as after an answer that was lost


def test_a_lesson_stands_as_the_rows_about_it_say(memory: StoredMemory) -> None:
    memory.record(Episode(start=START, end=END))
    for _ in range(2):  # a replay counts nothing twice
        memory.lessons.keep(LESSON, ["a1"])
        memory.lessons.show([Showing(lesson="l1", episode="a1", arm="shown")])
        memory.lessons.vote([Vote(lesson="l1", episode="a1", effect="helped")])
    (standing,) = memory.lessons.standings(project="clock")
    assert (standing.state, standing.sources, standing.shown, standing.helped) == ("candidate", ("a1",), (1, 0), 1)
    memory.lessons.move("l1", "active", "two episodes")
    (standing,) = memory.lessons.standings()
    assert (standing.state, standing.why) == ("active", "two episodes")
    assert memory.lessons.standings(project="other") == ()
