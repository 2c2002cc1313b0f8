"""How well a labelled set is found by several ways of looking: recall among the first five, mean reciprocal rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

from milepost.memory.recall.recall import Recaller
from tests.recall.labelled import FullText, latest_first

Row = dict[str, Any]
Figures = Mapping[str, tuple[float, float]]  # by the kind of question, and of `all`: recall@5, MRR


def figures(recaller: Recaller, episodes: list[Row], queries: Iterable[Row]) -> dict[str, Figures]:
    """Of each way: ours, full text alone, the same within the project that is asked about, the latest first."""
    with closing(FullText(episodes)) as full_text:
        ways: dict[str, Callable[[str, str], list[str]]] = {
            "ours": lambda text, project: [
                each.id for each in recaller.search(text, project, 50) if each.kind == "episode"
            ],
            "full text alone": lambda text, _: full_text.find(text),
            "full text, project": full_text.find,
            "latest first": lambda _, project: latest_first(episodes, project),
        }
        return {name: _measured(find, queries) for name, find in ways.items()}


def told(found: Mapping[str, Figures]) -> str:
    """The figures as a table."""
    lines = (
        (name, ", ".join(f"{kind} {recall:.2f} / {mrr:.2f}" for kind, (recall, mrr) in each.items()))
        for name, each in found.items()
    )
    return "\n".join(f"{name:18} recall@5 / MRR: {line}" for name, line in lines)


def _measured(find: Callable[[str, str], list[str]], queries: Iterable[Row]) -> Figures:
    ranks: dict[str, list[float]] = {}
    for query in queries:
        found = find(query["text"], query["project"])
        rank = found.index(query["expected"]) + 1 if query["expected"] in found else float("inf")
        for kind in (query["kind"], "all"):
            ranks.setdefault(kind, []).append(rank)
    return {
        kind: (sum(rank <= 5 for rank in each) / len(each), sum(1 / rank for rank in each) / len(each))
        for kind, each in ranks.items()
    }
