from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from milepost.core.memories import Episode
from milepost.core.ports import Memory
from milepost.core.task import Task
from milepost.core.verdict import Verdict
from milepost.memory.episodes import InMemory, StoredMemory
from milepost.store.database import open_database

TASK = Task(id="parse", title="Parse hours", status="open", line=1)


@pytest.fixture(params=["in memory", "sqlite", "postgres"])
def memory(request: pytest.FixtureRequest) -> Iterator[Memory]:
    if request.param == "in memory":
        yield InMemory(run="now")
        return
    place = ":memory:" if request.param == "sqlite" else request.getfixturevalue("postgres")
    with closing(open_database(place)) as database:
        yield StoredMemory(database, run="now")


def episode(run: str, attempt: int, verdict: Verdict, reason: str = "", title: str = "Parse hours") -> Episode:
    return Episode(
        run=run,
        task="parse",
        title=title,
        attempt=attempt,
        agent="claude",
        verdict=verdict,
        reason=reason,
        duration_ms=10,
        cost_usd=0.5,
    )


def test_earlier_runs_are_recalled_newest_first(memory: Memory) -> None:
    memory.record(episode("7f3a", 1, Verdict.FAILED, "exit 1:\n expected 5400"))
    memory.record(episode("7f3a", 2, Verdict.PASSED, title="PARSE  Hours"))

    assert memory.recall(TASK).lines == (
        "done before by agent claude in 2 attempts",
        "failed before (run 7f3a, attempt 1, agent claude): exit 1: expected 5400",
    )


def test_neither_the_run_that_is_on_nor_other_tasks_nor_unverified_work_is_recalled(memory: Memory) -> None:
    memory.record(episode("now", 1, Verdict.FAILED, "mine"))
    memory.record(episode("7f3a", 1, Verdict.FAILED, "another's", title="Parse minutes"))
    memory.record(episode("7f3a", 2, Verdict.UNVERIFIED, "nobody knows"))

    assert memory.recall(TASK).lines == ()


def test_the_same_reason_is_told_once_and_three_lines_are_enough(memory: Memory) -> None:
    for number, reason in enumerate(("old", "same", "b", "same", "c"), start=1):
        memory.record(episode("7f3a", number, Verdict.FAILED, reason))

    assert [line.rpartition(": ")[2] for line in memory.recall(TASK).lines] == ["c", "same", "b"]


def test_an_attempt_that_is_recorded_again_stays_as_it_was_first_told(memory: Memory) -> None:
    memory.record(episode("7f3a", 1, Verdict.FAILED, "first"))
    memory.record(episode("7f3a", 1, Verdict.PASSED))

    assert memory.recall(TASK).lines == ("failed before (run 7f3a, attempt 1, agent claude): first",)


def test_a_title_may_be_as_long_as_it_likes(memory: Memory) -> None:
    title = " ".join(f"word{number * 7919}" for number in range(900))
    memory.record(episode("7f3a", 1, Verdict.PASSED, title=title))

    assert memory.recall(Task(id="parse", title=title, status="open", line=1)).lines
    assert not memory.recall(Task(id="parse", title=f"{title} more", status="open", line=1)).lines


def test_many_threads_may_record_at_once(memory: Memory) -> None:
    def record(number: int) -> None:
        memory.record(episode(f"run{number}", 1, Verdict.FAILED, f"reason {number % 3}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(record, range(24)))

    reasons = {line.rpartition(": ")[2] for line in memory.recall(TASK).lines}
    assert reasons == {"reason 0", "reason 1", "reason 2"}


def test_what_was_recorded_is_there_for_the_next_process(place: Path | str) -> None:
    with closing(open_database(place)) as database:
        StoredMemory(database, run="7f3a").record(episode("7f3a", 1, Verdict.PASSED))

    with closing(open_database(place)) as database:
        told = StoredMemory(database, run="now").recall(TASK).lines
        assert told == ("done before by agent claude in 1 attempt",)
        assert database.read("select run, cost_usd from episodes") == [("7f3a", 0.5)]


def test_what_cannot_be_kept_as_text_does_no_harm(memory: Memory) -> None:
    memory.record(episode("7f3a", 1, Verdict.FAILED, "printed \udcff and 100 % of '?'"))

    assert "100 % of '?'" in memory.recall(TASK).lines[0]
