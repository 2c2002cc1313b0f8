"""A memory as JSON lines: out, in, and what is refused on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.core.errors import ExportRefused
from milepost.core.memories import (
    Assessment,
    Episode,
    EpisodeEnd,
    EpisodeStart,
    EpisodeStep,
    Lesson,
    Showing,
    Vote,
)
from milepost.core.verdict import Verdict
from milepost.engine.memory.doctor import imports, suspects
from milepost.memory.lessons.distil.make_lesson import id_of
from milepost.memory.memory import StoredMemory
from milepost.memory.store.names import flaw_in_name
from milepost.memory.store.rows import digest_of
from milepost.memory.store.schema import VERSION
from milepost.memory.transfer.export import export_lines
from milepost.memory.transfer.import_rows import Imported, checked, take_in
from milepost.store.database import open_database

START = EpisodeStart(id="a1", project="clock", title="Parse hours", started_at=10.5, run="7f3a", task="1.1")
END = EpisodeEnd(kind="success", ended_at=20.5, verdict=Verdict.PASSED, duration_ms=10_000, cost_usd=0.5)
LESSON = Lesson(id="l1", kind="usage", project="clock", subject="mint", text="`mint('inv')`", made_at=20.5)

names = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cf", "Zl", "Zp")), min_size=1, max_size=12
)
projects = names.filter(lambda name: not flaw_in_name("project", name))
ids = st.text("abz09._:/-", max_size=11).map("e{}".format)
texts = st.text(max_size=30)
times = st.floats(0, 2e9)
steps = st.builds(
    EpisodeStep,
    tool=texts,
    action=texts,
    result=st.sampled_from(["success", "error", "timeout"]),
    observation=texts,
    parameters=st.dictionaries(names, st.one_of(names, st.integers(-9, 9), st.none()), max_size=2),
    at=st.floats(1, 2e9),
)
episodes = st.builds(
    Episode,
    start=st.builds(EpisodeStart, id=ids, project=projects, title=texts, started_at=times, text=texts),
    steps=st.lists(steps, max_size=2).map(tuple),
    end=st.builds(EpisodeEnd, kind=st.just("failure"), ended_at=times, verdict=st.sampled_from([*Verdict, None])),
)  # fmt: skip
lessons = st.builds(Lesson, id=ids, kind=st.just("usage"), project=projects, subject=texts, text=texts, made_at=times)


def lesson_of_ours(name: str = "mint") -> Lesson:
    text = f"`coins.{name}` as it is used in `shop.py`, which passed:\n    from coins import {name}\n    {name}('inv')"
    known = id_of("usage", "clock", name, text)
    return Lesson(id=known, kind="usage", project="clock", subject=name, text=text, made_at=20.5, source="shop.py")


def nothing_suspicious(_: Lesson) -> str:
    return ""


@contextmanager
def a_memory() -> Iterator[StoredMemory]:
    with closing(open_database(":memory:")) as database:
        yield StoredMemory(database)


def a_filled_memory(memory: StoredMemory) -> None:
    memory.record(Episode(start=START, steps=(EpisodeStep(tool="sh", action="pytest", at=11.5),), end=END))
    memory.lessons.keep(LESSON, ["a1"], state="active")
    memory.lessons.show([Showing(lesson="l1", episode="a1", arm="shown")])
    memory.lessons.vote([Vote(lesson="l1", episode="a1", effect="helped")])


def exported(memory: StoredMemory) -> list[bytes]:
    return [line.encode() for line in export_lines(memory.rows, "clock")]


def taken(memory: StoredMemory, lines: list[bytes], *, trusted: bool = False) -> Imported:
    return take_in(memory.rows, lines, trusted=trusted, judge=nothing_suspicious)


@settings(max_examples=50)
@given(st.lists(episodes, max_size=3), st.lists(lessons, max_size=2))
def test_a_backup_comes_back_as_it_was_and_a_second_time_changes_nothing(
    lived: list[Episode], learnt: list[Lesson]
) -> None:
    with a_memory() as one, a_memory() as other:
        for episode in lived:
            one.record(replace(episode, assessment=Assessment()))
        for lesson in learnt:
            one.lessons.keep(lesson, [episode.id for episode in lived[:1]])
            one.lessons.vote([Vote(lesson=lesson.id, episode=episode.id, effect="none") for episode in lived])
        lines = exported(one)
        first = taken(other, lines, trusted=True)
        assert exported(other) == lines
        again = taken(other, lines, trusted=True)
        assert (again.added, again.known, again.diverged) == ({}, sum(first.added.values()), 0)
        assert exported(other) == lines


def test_what_others_say_is_kept_apart_and_counts_nothing() -> None:
    with a_memory() as theirs, a_memory() as ours:
        a_filled_memory(theirs)
        lines = exported(theirs)
        found = taken(ours, lines)
        assert found.added == {"memory_episodes": 1, "memory_steps": 1, "memory_endings": 1, "memory_lessons": 1}
        assert found.for_trust == 4, "what it grew from, its states, whom it was shown to, votes"
        (episode,) = ours.journal.ended()
        assert (episode.id.startswith("import-"), episode.verified, episode.start.run) == (True, False, "")
        assert ours.journal.took(10) == ()
        (standing,) = ours.lessons.standings()
        assert (standing.state, standing.lesson.scope, standing.sources) == ("candidate", "user", ())
        assert standing.lesson.source.startswith("import:") and standing.lesson.id.startswith("import-")
        assert taken(ours, lines).added == {}


def test_a_file_cannot_take_the_place_of_what_happens_here_later() -> None:
    with a_memory() as theirs, a_memory() as ours:
        a_filled_memory(theirs)
        taken(ours, exported(theirs))
        ours.record(Episode(start=replace(START, title="Ours"), end=END))
        ours.lessons.keep(replace(LESSON, text="ours"), ["a1"])
        kept = ours.journal.episode("a1")
        assert kept is not None and kept.start.title == "Ours" and kept.verified
        assert {one.lesson.id: one.lesson.text for one in ours.lessons.standings()}["l1"] == "ours"


def test_what_went_around_comes_back_as_nothing_new() -> None:
    with a_memory() as ours, a_memory() as theirs:
        a_filled_memory(ours)
        taken(theirs, exported(ours))
        found = taken(ours, exported(theirs))
        assert found.added == {}
        assert [one.lesson.id for one in ours.lessons.standings()] == ["l1"]


def test_our_own_rows_in_somebody_elses_file_are_nothing_new() -> None:
    with a_memory() as ours:
        a_filled_memory(ours)
        before = exported(ours)
        found = taken(ours, before)
        assert (found.added, found.known, found.for_trust) == ({}, len(before) - 2, 0)
        assert exported(ours) == before


@pytest.mark.parametrize("lesson", [LESSON, lesson_of_ours()], ids=["odd", "ours"])
def test_what_was_imported_and_is_trusted_later_takes_the_place_of_its_copy(lesson: Lesson) -> None:
    with a_memory() as theirs, a_memory() as ours, a_memory() as once:
        theirs.record(Episode(start=START, steps=(EpisodeStep(tool="sh", action="pytest", at=11.5),), end=END))
        theirs.lessons.keep(lesson, ["a1"], state="active")
        lines = exported(theirs)
        taken(once, lines)
        hearsay = exported(once)
        taken(ours, lines)
        found = taken(ours, lines, trusted=True)
        assert (sum(found.added.values()), found.known, found.now_trusted) == (len(lines) - 2, 0, 2)
        kept = [line for line in exported(ours)[1:-1] if b"memory_forgotten" not in line]
        assert kept == lines[1:-1]
        for file, trusted in ((lines, True), (lines, False), (hearsay, False), (hearsay, True)):
            again = taken(ours, file, trusted=trusted)
            assert (again.added, again.now_trusted, again.forgotten) == ({}, 0, 0)
        forgotten(ours, "episode", "a1")
        for file, trusted in ((lines, True), (lines, False), (hearsay, False), (hearsay, True)):
            assert taken(ours, file, trusted=trusted).added == {}, "what is forgotten for good stays away"


def test_what_a_person_said_of_a_copy_holds_when_it_is_trusted() -> None:
    with a_memory() as theirs, a_memory() as ours:
        a_filled_memory(theirs)
        taken(ours, exported(theirs))
        (copy,) = ours.lessons.standings()
        ours.lessons.move(copy.lesson.id, "quarantined", "nonsense", by_hand=True)
        taken(ours, exported(theirs), trusted=True)
        (standing,) = ours.lessons.standings()
        assert (standing.lesson.id, standing.state, standing.why) == ("l1", "quarantined", "by hand: nonsense")


def forgotten(memory: StoredMemory, kind: str, name: str) -> None:
    memory.rows.together(
        lambda: memory.rows.add("memory_forgotten", {"kind": kind, "id": name, "why": "wrong", "at": 30.5})
    )


@pytest.mark.parametrize("trusted", [False, True])
def test_what_was_forgotten_does_not_come_back_by_any_of_its_names(trusted: bool) -> None:
    lesson = lesson_of_ours()
    with a_memory() as ours, a_memory() as theirs, a_memory() as third:
        ours.record(Episode(start=START, steps=(EpisodeStep(tool="sh", action="pytest", at=11.5),), end=END))
        ours.lessons.keep(lesson, ["a1"], state="active")
        backup = exported(ours)
        taken(theirs, backup)
        taken(third, backup)
        forgotten(ours, "episode", "a1")
        for file in (backup, exported(theirs)):
            found = taken(ours, file, trusted=trusted)
            assert (found.added, found.forgotten) == ({}, 2)
        for one in third.lessons.standings():
            forgotten(third, "lesson", one.lesson.id)
        forgotten(third, "episode", third.journal.ended()[0].id)
        assert taken(third, backup, trusted=trusted).forgotten == 2
        assert not [line for line in exported(third)[1:-1] if b"memory_forgotten" not in line]


def test_a_step_never_comes_without_its_episode() -> None:
    with a_memory() as ours, a_memory() as theirs:
        for memory in (ours, theirs):
            memory.journal.start(START)
        theirs.journal.log("a1", EpisodeStep(tool="sh", action="rm", at=12.5))
        found = taken(ours, exported(theirs))
        assert (found.added, found.known) == ({}, 2), "the word of others about an episode of ours"


def test_the_doctor_has_one_note_about_all_that_came_by_a_file() -> None:
    with a_memory() as ours, a_memory() as theirs:
        for name in ("mint", "stamp"):
            theirs.lessons.keep(lesson_of_ours(name), ["a1"])
        taken(ours, exported(theirs))
        standings = ours.lessons.standings()
        assert [one.lesson.id[:7] for one in standings] == ["import-"] * 2
        assert list(suspects(standings)) == []
        (note,) = imports(standings)
        assert (note.wrong, note.what.split(";")[0]) == (False, "2 lessons came from an imported file")


def test_what_was_forgotten_does_not_come_back_by_a_backup() -> None:
    with a_memory() as ours, a_memory() as fresh:
        a_filled_memory(ours)
        fresh.rows.together(
            lambda: fresh.rows.add("memory_forgotten", {"kind": "lesson", "id": "l1", "why": "wrong", "at": 30.5})
        )
        taken(fresh, exported(ours), trusted=True)
        assert fresh.lessons.standings() == ()
        assert fresh.journal.episode("a1") is not None


def test_a_suspicious_lesson_is_quarantined_in_a_backup_too() -> None:
    with a_memory() as ours, a_memory() as fresh:
        a_filled_memory(ours)
        found = take_in(fresh.rows, exported(ours), trusted=True, judge=lambda lesson: f"odd: {lesson.subject}")
        (standing,) = fresh.lessons.standings()
        assert (standing.state, standing.why, found.quarantined) == ("quarantined", "odd: mint", (("l1", "odd: mint"),))


def changed(line: int, change: Callable[[dict[str, Any]], None], *, sign: bool = False) -> Callable[..., list[bytes]]:
    def forge(lines: list[bytes]) -> list[bytes]:
        value = json.loads(lines[line])
        change(value)
        if sign:
            value["row"]["digest"] = digest_of(value["row"])
        return [*lines[:line], json.dumps(value).encode() + b"\n", *lines[line + 1 :]]

    return forge


def in_body(name: str, text: object) -> Callable[[dict[str, Any]], None]:
    def change(value: dict[str, Any]) -> None:
        value["row"]["body"] = json.dumps(json.loads(value["row"]["body"]) | {name: text})

    return change


FORGERIES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "no export": (lambda _: [b"# Roadmap\n"], "line 1: it is not JSON"),
    "no header": (lambda lines: lines[1:], "line 1: this is not an export"),
    "newer": (changed(0, lambda v: v.update(version=VERSION + 1)), "line 1: it was written by a newer version"),
    "cut off": (lambda lines: [*lines[:4], lines[4][:-9]], "line 5: it is not JSON"),
    "cut at the end of a line": (lambda lines: lines[:-1], "the file is truncated"),
    "a line less": (lambda lines: [*lines[:-2], lines[-1]], "the file has 7 rows, and should have 8"),
    "two in one": (lambda lines: [*lines, *lines], "line 11: it comes after the last line"),
    "twice": (lambda lines: [*lines[:-1], lines[1]], "the same row appears"),
    "orphan": (
        lambda lines: [lines[0], *lines[2:]],
        "line 2: the episode 'a1' that it belongs to is not in an earlier line",
    ),
    "unknown table": (changed(1, lambda v: v.update(table="sqlite_master")), "line 2: there is no such table"),
    "unknown column": (changed(1, lambda v: v["row"].update(rowid=1)), "line 2: its columns are not those"),
    "edited": (changed(1, lambda v: v["row"].update(title="Other")), "line 2: its digest does not match"),
    "signed anew": (changed(1, lambda v: v["row"].update(title="Other"), sign=True), "does not match its columns"),
    "smuggled": (changed(1, in_body("note", "do this"), sign=True), "its body contains something"),
    "wrong kind": (changed(4, in_body("kind", "order"), sign=True), "line 5: its body cannot be read"),
    "not a number": (changed(1, lambda v: v["row"].update(at=float("nan"))), "line 2: it is not JSON"),
    "a truth": (changed(1, lambda v: v["row"].update(attempt=True)), "line 2: attempt is not a number"),
    "too long": (changed(1, lambda v: v["row"].update(project="x" * 501)), "line 2: project is too long"),
    "too deep": (lambda lines: [*lines[:-1], b"[" * 100_000], "it is not JSON"),
    "other state": (changed(6, lambda v: v["row"].update(state="holy"), sign=True), "line 7: state is not one of"),
    "empty": (lambda _: [], "the file is empty"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_file_that_this_program_did_not_write_is_refused_with_the_line(name: str) -> None:
    forge, said = FORGERIES[name]
    with a_memory() as memory:
        a_filled_memory(memory)
        lines = exported(memory)
    with pytest.raises(ExportRefused) as refused:
        list(checked(forge(lines)))
    assert said in refused.value.message
