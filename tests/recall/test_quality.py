"""How well the labelled set is found, beside full text alone and the latest first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from milepost.core.memories import Query
from milepost.memory.memory import StoredMemory
from milepost.memory.recall.recall import Recaller
from milepost.store.database import open_database
from tests.recall.figures import figures, told
from tests.recall.labelled import learn, remember, rows, unworded

NOW = 1_790_000_000.0


@pytest.fixture(scope="module")
def recaller() -> Iterator[Recaller]:
    with closing(open_database(":memory:")) as database:
        memory = StoredMemory(database)
        remember(memory, rows("episodes.jsonl"))
        learn(memory)
        with closing(Recaller(memory, index=None, now=lambda: NOW, rule=unworded)) as recaller:
            yield recaller


def test_it_finds_more_than_full_text_alone_and_than_the_latest_first(recaller: Recaller) -> None:
    episodes = rows("episodes.jsonl")
    assert len(episodes) >= 300
    found = figures(recaller, episodes, rows("queries.jsonl"))
    print(told(found))  # noqa: T201 - the figures are what it is for
    ours = found["ours"]
    for other in ("full text alone", "latest first"):
        for kind, (recall, mrr) in found[other].items():
            assert ours[kind][0] >= recall and ours[kind][1] >= mrr, f"{kind}, {other}"
        assert ours["all"] > found[other]["all"]
    assert ours["near"][0] == 1.0 and ours["error"][0] == 1.0


@pytest.mark.parametrize("half", ["tuning", "held out"])
def test_a_task_gets_the_lesson_it_needs_and_an_unrelated_one_gets_nothing(recaller: Recaller, half: str) -> None:
    tasks = [task for task in rows("tasks.jsonl") if task["half"] == half]
    told = [(task, recaller.recall(Query(project="tidewater", text=task["text"]))) for task in tasks]
    assert [task["text"] for task, lessons in told if not set(task["needs"]) <= set(lessons.shown)] == []
    assert [(task["text"], lessons.shown) for task, lessons in told if not task["needs"] and lessons.lines] == []
    beside = sum(len(lessons.shown) - len(task["needs"]) for task, lessons in told)
    assert beside <= len(tasks) // 5, "few are shown beside those that are needed"
