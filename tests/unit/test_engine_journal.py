from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.attempt import Attempt, Outcome
from milepost.core.errors import StateUnwritable
from milepost.core.events import AgentSaid, RunFinished, TaskSummary
from milepost.core.verdict import CheckResult, TestCase, Verdict, judge
from milepost.engine.journal import Journal

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
    outcome=Outcome(status="finished", said="done ✓", cost_usd=0.1),
    evidence=judge("t", (CHECK,)),
    duration_ms=7,
)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "milepost.db") as opened:
        yield opened


def said(text: str) -> AgentSaid:
    return AgentSaid(run="r1", task="1.1", attempt=1, text=text)


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


def test_what_is_written_is_there_for_the_next_process(tmp_path: Path) -> None:
    with Journal(tmp_path / "milepost.db") as journal:
        journal.append(said("one"), "k1")
        with Journal(tmp_path / "milepost.db") as other:
            assert [entry.event for entry in other.events("r1")] == [said("one")]


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
