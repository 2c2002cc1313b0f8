"""The pipeline on LangGraph: a graph of five nodes, a thread a task, each node's result saved before the next one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver  # type: ignore[import-not-found]
from langgraph.graph import END, START, StateGraph  # type: ignore[import-not-found]
from pipeline import STEPS, Probe, asked, result_of


class State(TypedDict, total=False):
    """A channel for the task and one for each result: each is stored once."""

    task: int
    plan: dict[str, Any]
    act: dict[str, Any]
    verify: dict[str, Any]
    repair: dict[str, Any]
    land: dict[str, Any]


def main() -> None:
    _, place, number = asked()
    builder = StateGraph(State)
    for before, step in zip((START, *(f"do_{step}" for step in STEPS)), STEPS, strict=False):
        builder.add_node(f"do_{step}", node(step))
        builder.add_edge(before, f"do_{step}")
    builder.add_edge(f"do_{STEPS[-1]}", END)
    with saver(place) as checkpointer:
        graph = builder.compile(checkpointer=checkpointer)

        def work(task: int) -> bool:
            config = {"configurable": {"thread_id": f"task-{task}"}}
            done = graph.invoke({"task": task}, config, durability="sync")
            return all(step in done for step in STEPS)

        assert work(-1)
        Probe(place, number).measure(lambda: [work(task) for task in range(number)])


def node(step: str) -> Callable[[State], dict[str, Any]]:
    return lambda state: {step: result_of(state["task"], step)}


@contextmanager
def saver(place: str) -> Iterator[Any]:
    if place.startswith("postgresql:"):
        from langgraph.checkpoint.postgres import PostgresSaver  # type: ignore[import-not-found]

        with PostgresSaver.from_conn_string(place) as server:
            server.setup()
            yield server
        return
    with closing(sqlite3.connect(place, check_same_thread=False)) as file:
        file.execute("pragma synchronous=normal")  # as the others have it; it switches to WAL by itself
        yield SqliteSaver(file)


if __name__ == "__main__":
    main()
