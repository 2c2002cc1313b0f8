"""How well the labelled set is found, beside full text alone and the latest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from milepost.core.memories import Query
from milepost.memory.memory import StoredMemory
from milepost.memory.recall.recall import Recaller
from milepost.store.database import open_database
from tests.recall.labelled import FullText, latest_first, learn, remember, rows, unworded

NOW = 1_790_000_000.0


@pytest.fixture(scope="module")
def recaller() -> Iterator[Recaller]:
    with closing(open_database(":memory:")) as database:
        memory = StoredMemory(database)
        remember(memory)
        learn(memory)
        with closing(Recaller(memory, index=None, now=lambda: NOW, rule=unworded)) as recaller:
            yield recaller


def test_it_finds_more_than_full_text_alone_and_than_the_latest_first(recaller: Recaller) -> None:
    assert len(rows("episodes.jsonl")) >= 300
    with closing(FullText()) as full_text:
        ways: dict[str, Callable[[str, str], list[str]]] = {
            "ours": lambda text, project: [
                each.id for each in recaller.search(text, project, 50) if each.kind == "episode"
            ],
            "full text alone": lambda text, project: full_text.find(text),
            "latest first": lambda text, project: latest_first(project),
        }
        figures = {name: _figures(find) for name, find in ways.items()}
    for name, found in figures.items():
        told = ", ".join(f"{kind} {recall:.2f} / {mrr:.2f}" for kind, (recall, mrr) in found.items())
        print(f"{name:16} recall@5 / MRR: {told}")  # noqa: T201 - the figures are what it is for
    ours = figures["ours"]
    for other in ("full text alone", "latest first"):
        for kind, (recall, mrr) in figures[other].items():
            assert ours[kind][0] >= recall and ours[kind][1] >= mrr, f"{kind}, {other}"
        assert ours["all"] > figures[other]["all"]
    assert ours["near"][0] == 1.0 and ours["error"][0] == 1.0


@pytest.mark.parametrize("half", ["tuning", "held out"])
def test_a_task_gets_the_lesson_it_needs_and_an_unrelated_one_gets_nothing(recaller: Recaller, half: str) -> None:
    tasks = [task for task in rows("tasks.jsonl") if task["half"] == half]
    told = [(task, recaller.recall(Query(project="tidewater", text=task["text"]))) for task in tasks]
    assert [task["text"] for task, lessons in told if not set(task["needs"]) <= set(lessons.shown)] == []
    assert [(task["text"], lessons.shown) for task, lessons in told if not task["needs"] and lessons.lines] == []
    beside = sum(len(lessons.shown) - len(task["needs"]) for task, lessons in told)
    assert beside <= len(tasks) // 5, "few are shown beside those that are needed"


def _episodes(recaller: Recaller, text: str, project: str) -> list[str]:
    return [each.id for each in recaller.search(text, project, 50) if each.kind == "episode"]


def _figures(find: Callable[[str, str], list[str]]) -> dict[str, tuple[float, float]]:
    """Recall among the first five and the mean reciprocal rank, of each kind of question and of all."""
    ranks: dict[str, list[float]] = {}
    for query in rows("queries.jsonl"):
        found = find(query["text"], query["project"])
        rank = found.index(query["expected"]) + 1 if query["expected"] in found else float("inf")
        for kind in (query["kind"], "all"):
            ranks.setdefault(kind, []).append(rank)
    return {
        kind: (sum(rank <= 5 for rank in each) / len(each), sum(1 / rank for rank in each) / len(each))
        for kind, each in ranks.items()
    }
