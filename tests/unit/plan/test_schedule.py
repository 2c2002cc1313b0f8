"""Which tasks may start now, and which never will."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.core.task import Plan, Roadmap, Task
from milepost.plan import blocked, plan, ready

NOBODY: frozenset[str] = frozenset()


def task(name: str, *waits_for: str, files: tuple[str, ...] = (), done: bool = False) -> Task:
    return Task(
        id=name,
        title=name,
        status="done" if done else "open",
        line=1,
        depends_on=waits_for,
        files=files,
        verify=("true",),
    )


def planned(*tasks: Task) -> Plan:
    return plan(Roadmap(tasks=tasks))


def names(tasks: tuple[Task, ...]) -> list[str]:
    return [task.id for task in tasks]


def test_a_task_starts_when_all_it_waits_for_is_done() -> None:
    graph = planned(task("0", done=True), task("1", "0"), task("2", "0", "1"), task("3", "2"))
    assert names(ready(graph, NOBODY, NOBODY, NOBODY)) == ["1"]
    assert names(ready(graph, NOBODY, frozenset({"1"}), NOBODY)) == []
    assert names(ready(graph, frozenset({"1"}), NOBODY, NOBODY)) == ["2"]
    assert names(ready(graph, NOBODY, NOBODY, frozenset({"1"}))) == []


def test_a_task_does_not_start_beside_one_that_changes_the_same_file() -> None:
    graph = planned(task("1", files=("a",)), task("2", files=("b", "a")), task("3", files=("b",)), task("4"))
    assert names(ready(graph, NOBODY, NOBODY, NOBODY)) == ["1", "3", "4"]
    assert names(ready(graph, NOBODY, frozenset({"1"}), frozenset({"3"}))) == ["4"]
    assert names(ready(graph, frozenset({"1"}), NOBODY, frozenset({"3"}))) == ["4", "2"]


def test_what_waits_for_a_failed_task_is_blocked_by_its_own_dependency() -> None:
    graph = planned(task("1"), task("2", "1"), task("3", "4", "2"), task("4"), task("5", "4"))
    assert blocked(graph, frozenset({"1"})) == {"2": "1", "3": "2"}
    assert blocked(graph, NOBODY) == {}


@st.composite
def graphs(draw: st.DrawFn) -> Plan:
    size = draw(st.integers(min_value=1, max_value=12))
    numbers = st.integers(min_value=0, max_value=size - 1)
    return planned(
        *(
            task(
                f"t{number}",
                *sorted({f"t{other}" for other in draw(st.lists(numbers, max_size=2)) if other < number}),
                files=tuple(draw(st.lists(st.sampled_from(["a", "b", "c/", "c/d"]), max_size=2, unique=True))),
                done=draw(st.booleans()) and draw(st.booleans()),
            )
            for number in draw(st.permutations(range(size)))
        )
    )


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_every_task_ends_done_failed_or_blocked_whatever_happens(graph: Plan, chance: Random) -> None:
    done: set[str] = set()
    failed: set[str] = set()
    while batch := ready(graph, frozenset(done), NOBODY, frozenset(failed)):
        roots = [{file.split("/")[0] for file in one.files} for one in batch]
        assert len(set().union(*roots)) == sum(map(len, roots))
        for one in batch:
            (done if chance.random() < 0.7 else failed).add(one.id)
    open_tasks = {one.id for one in graph.tasks if one.status == "open"}
    assert done | failed | set(blocked(graph, frozenset(failed))) == open_tasks
    assert not done & set(blocked(graph, frozenset(failed)))
