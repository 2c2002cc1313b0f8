"""A plan that changes while it is followed."""

from __future__ import annotations

from milepost.core.task import Plan, Task
from milepost.plan.graph.build_graph import plan
from milepost.plan.graph.reshape import waiting_for, with_parts
from milepost.plan.graph.schedule import blocked, ready
from milepost.roadmap import read

ROADMAP = b"- [ ] T1 First\n- [ ] T2 Second\n- [ ] T3 Third\n  - Depends on: T2\n"


def names(tasks: tuple[Task, ...]) -> list[str]:
    return [task.id for task in tasks]


def startable(changed: Plan, *done: str) -> list[str]:
    return names(ready(changed, done=frozenset(done), busy=frozenset(), ended=frozenset()))


def test_a_task_that_must_wait_after_all_starts_when_the_other_is_done() -> None:
    changed = waiting_for(plan(read(ROADMAP)), "T1", "T2")
    assert startable(changed) == ["T2"]
    assert startable(changed, "T2") == ["T1", "T3"]
    assert blocked(changed, frozenset({"T2"})) == {"T1": "T2", "T3": "T2"}


def test_a_task_waits_for_its_parts_and_so_does_whoever_waits_for_it() -> None:
    parts = (
        Task(id="T2.1", title="One", status="open", line=2),
        Task(id="T2.2", title="Two", status="open", line=2, depends_on=("T2.1",)),
    )
    changed = with_parts(plan(read(ROADMAP)), "T2", parts)
    assert startable(changed) == ["T1", "T2.1"]
    assert startable(changed, "T1", "T2.1") == ["T2.2"]
    assert startable(changed, "T1", "T2.1", "T2.2") == ["T2"]
    assert startable(changed, "T1", "T2.1", "T2.2", "T2") == ["T3"]
    assert blocked(changed, frozenset({"T2.2"})) == {"T2": "T2.2", "T3": "T2"}
