from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.attempt import Attempt, Outcome
from milepost.core.calls import Usage
from milepost.core.errors import StateUnwritable
from milepost.core.events import AgentSaid, CommandPrinted, EventsTakenBack, RunFinished, TaskSummary
from milepost.core.verdict import CheckResult, TestCase, Verdict, judge
from milepost.engine.records.journal import LAST, PRINTED, Entry, Journal
from milepost.store.database import Database

SUMMARY = RunFinished(
    run="r1",
    branch="milepost/r1",
    tasks=(TaskSummary(id="1.1", title="T", verdict=Verdict.PASSED, commit="c", attempts=1, reason="ok"),),
    cost_usd=0.25,
    duration_ms=5,
    head="c",
    fast_forwarded="main",
    by_hand="",
)
CHECK = CheckResult(
    name="tests",
    outcome="passed",
    summary="1 test",
    decisive=True,
    argv=("pytest",),
    exit_code=0,
    cases=(TestCase(id="t", outcome="passed", duration_ms=3),),
    enforced=("landlock-6",),
)
ATTEMPT = Attempt(
    number=1,
    agent="code",
    base="b",
    commit="c",
    outcome=Outcome(status="finished", said="done ✓", usage=Usage(cost_usd=0.1)),
    evidence=judge("t", (CHECK,)),
    duration_ms=7,
)


@pytest.fixture
def journal(database: Database) -> Journal:
    return Journal(database)


def said(text: str) -> AgentSaid:
    return AgentSaid(run="r1", task="1.1", attempt=1, text=text)


def taken_back(*entries: Entry) -> EventsTakenBack:
    return EventsTakenBack(run="r1", task="1.1", attempt=1, seqs=tuple(entry.seq for entry in entries))


def test_an_event_written_twice_under_one_key_is_kept_once_and_told_apart(journal: Journal) -> None:
    assert journal.append(said("one"), "k1")
    assert not journal.append(said("one, by a step that ran again"), "k1")
    assert journal.append(said("two"), "k2")
    assert journal.append(replace(said("one"), run="r2"), "k1"), "keys are a run's own"
    assert [entry.event for entry in journal.events("r1")] == [said("one"), said("two")]


def test_an_attempt_comes_back_whole_and_newer_evidence_takes_its_place(journal: Journal) -> None:
    journal.keep_attempt("r1", "1.1", replace(ATTEMPT, number=2))
    journal.keep_attempt("r1", "1.1", ATTEMPT)
    assert journal.attempts("r1", "1.1") == (ATTEMPT, replace(ATTEMPT, number=2))
    corrected = replace(ATTEMPT, evidence=judge("t2", (replace(CHECK, outcome="failed"),)))
    journal.keep_attempt("r1", "1.1", corrected)
    assert journal.attempts("r1", "1.1")[0] == corrected
    assert journal.attempts("r1", "1.2") == ()
    assert (journal.last_run_of("1.1"), journal.last_run_of("1.2")) == ("r1", None)


def test_a_run_is_unfinished_until_it_is_closed_or_left(journal: Journal) -> None:
    for run in ("r1", "r2", "r3"):
        journal.open_run(run, "1", {"run": run})
    journal.close_run("r1", SUMMARY)
    journal.leave_run("r2")
    third, second, first = journal.runs()
    assert (third.run, third.order, third.unfinished, third.summary) == ("r3", {"run": "r3"}, True, None)
    assert (second.run, second.unfinished) == ("r2", False)
    assert (first.unfinished, first.summary) == (False, SUMMARY)
    ended = first.finished_at
    journal.close_run("r1", SUMMARY)
    assert journal.runs()[2].finished_at == ended, "a step that ran again changes nothing"


def test_the_first_answer_about_a_tree_counts_and_each_question_has_its_own(journal: Journal) -> None:
    assert journal.answer("tree", "tests") is None
    journal.keep_answer("tree", "tests", {})
    journal.keep_answer("tree", "tests", {"t": "failed"})
    assert journal.answer("tree", "tests") == {}, "known to be none, which is not the same as unknown"
    assert journal.answer("tree", "verify make") is None


def test_a_question_or_a_key_may_be_as_long_as_it_likes(journal: Journal) -> None:
    ids = " ".join(f"tests/test_{hash((number,)):x}.py::test_é_{number}" for number in range(500))
    for number in range(2):
        journal.keep_answer("tree", f"r1: flaky {ids} {number}", number)
        assert journal.append(said(str(number)), f"check {ids} {number}")
        assert not journal.append(said(str(number)), f"check {ids} {number}")
    assert [journal.answer("tree", f"r1: flaky {ids} {number}") for number in range(2)] == [0, 1]
    journal.drop_events("r1", "check ")
    (gone,) = journal.events("r1")
    assert isinstance(gone.event, EventsTakenBack) and len(gone.event.seqs) == 2


def test_several_threads_may_write_at_once(journal: Journal) -> None:
    def write(writer: int) -> None:
        for number in range(50):
            journal.append(said(f"{writer}"), f"{writer}/{number}")

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    assert len(journal.events("r1")) == 200


def test_what_is_written_is_there_for_the_next_process(place: Path | str) -> None:
    with Journal(place) as journal:
        journal.append(said("one"), "k1")
        with Journal(place) as other:
            assert [entry.event for entry in other.events("r1")] == [said("one")]


def test_a_run_is_written_down_under_an_id_of_its_own(journal: Journal) -> None:
    journal.open_run("r1", "1", {"run": "mine"})
    with pytest.raises(StateUnwritable, match="r1"):
        journal.open_run("r1", "1", {"run": "another"})
    assert [record.order for record in journal.runs()] == [{"run": "mine"}]


def test_whoever_follows_goes_on_from_the_place_that_was_seen(journal: Journal) -> None:
    for number in range(3):
        journal.append(said(str(number)), f"k{number}")
    first, *later = journal.events("r1")
    assert journal.events("r1", after=first.seq) == tuple(later)
    journal.replace(said("0, again"), "k0")
    gone, again = journal.events("r1", after=later[-1].seq)
    assert (gone.event, again.event) == (taken_back(first), said("0, again"))
    assert first not in journal.events("r1")


def test_whoever_saw_what_is_taken_back_is_told_once_and_nobody_where_nothing_was(journal: Journal) -> None:
    journal.replace(said("0"), "a/0")
    journal.append(said("1"), "a/1")
    journal.append(said("2"), "b/1")
    journal.append(replace(said("3"), run="r2"), "a/1")
    zero, one, two = journal.events("r1")
    for _ in range(2):
        journal.drop_events("r1", "a/", task="1.1", attempt=1)
    assert [entry.event for entry in journal.events("r1")] == [said("2"), taken_back(zero, one)]
    journal.replace(said("2, again"), "b/1")
    events = [entry.event for entry in journal.events("r1")]
    assert events == [taken_back(zero, one), taken_back(two), said("2, again")]
    assert len(journal.events("r2")) == 1


def test_what_commands_print_comes_only_when_asked_for(journal: Journal) -> None:
    lines = CommandPrinted(run="r1", task="1.1", attempt=1, command="c", lines=("\x1b[31mred",), errors=(0,))
    journal.append(said("before"), "k1")
    journal.append(lines, f"{PRINTED}c/1")
    journal.append(SUMMARY, LAST)
    assert [entry.event for entry in journal.events("r1")] == [said("before"), SUMMARY]
    assert [entry.event for entry in journal.events("r1", printed=True)] == [said("before"), lines, SUMMARY]
    assert list(journal.follow("r1", printed=True)) == list(journal.events("r1", printed=True))
    assert len(list(journal.follow("r1"))) == 2


def test_a_follower_sees_every_event_once_while_several_write_and_leaves_at_the_end(
    place: Path | str,
) -> None:
    seen: list[Entry] = []
    with Journal(place) as mine, Journal(place) as theirs:

        def write(writer: int) -> None:
            with Journal(place) as own:
                for number in range(25):
                    own.append(said(f"{writer}/{number}"), f"{writer}/{number}")

        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        for thread in writers:
            thread.start()
        follower = threading.Thread(target=lambda: seen.extend(mine.follow("r1")))
        follower.start()
        for thread in writers:
            thread.join()
        theirs.append(SUMMARY, LAST)
        follower.join()
    assert [entry.seq for entry in seen] == sorted(entry.seq for entry in seen)
    assert len({entry.event.text for entry in seen if isinstance(entry.event, AgentSaid)}) == 100
    assert seen[-1].event == SUMMARY and len(seen) == 101


def test_a_run_that_was_left_is_followed_to_where_it_was_left(journal: Journal) -> None:
    journal.open_run("r1", "1", {})
    journal.append(said("one"), "k1")
    journal.leave_run("r1")
    assert [entry.event for entry in journal.follow("r1")] == [said("one")]


def test_an_event_that_only_a_newer_version_knows_is_passed_over(database: Database) -> None:
    journal = Journal(database)
    journal.append(said("one"), "k1")
    sql = "insert into events (run, key, at, body) values (?, ?, ?, ?)"
    database.write(sql, "r1", "k2", 1.0, '{"event": "dreamt", "run": "r1"}')
    database.write(sql, "r1", "k3", 1.0, '{"event": "agent_said", "run": "r1", "mood": "new, and not told the rest"}')
    journal.append(said("two"), "k4")
    assert [entry.event for entry in journal.events("r1")] == [said("one"), said("two")]


def test_a_damaged_database_says_where_the_work_is(tmp_path: Path) -> None:
    path = tmp_path / "milepost.db"
    path.write_bytes(b"not a database, but long enough to look at" * 10)
    with pytest.raises(StateUnwritable, match="is damaged") as raised:
        Journal(path)
    assert "in git" in raised.value.advice


def test_a_database_that_cannot_be_used_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "milepost.db"
    path.mkdir()
    with pytest.raises(StateUnwritable, match="cannot be used") as raised:
        Journal(path)
    assert raised.value.advice
