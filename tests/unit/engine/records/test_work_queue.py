"""What a worker takes, and who counts as dead."""

from __future__ import annotations

import pytest

from milepost.engine.records.work_queue import Offer, choose
from milepost.engine.records.worker_lease import Worker
from milepost.engine.run.durable import offer_of
from milepost.engine.workers.reaper import Silent, is_dead


def offer(workflow: str, *needs: str) -> Offer:
    return Offer(workflow=workflow, run=workflow.partition("/")[0], needs=needs, counts="/" in workflow)


def chosen(free: list[Offer], *, held: tuple[Offer, ...] = (), capacity: int = 2, barred: tuple[str, ...] = ()) -> str:
    worker = Worker(name="ann", capacity=capacity, version="1", labels=("docker", "node22"))
    return " ".join(one.workflow for one in choose(free, held, worker, barred))


def test_a_worker_takes_as_many_tasks_as_it_has_room_for_and_runs_beside_them() -> None:
    free = [offer("a/1"), offer("a/2"), offer("b"), offer("a/3")]
    assert chosen(free) == "a/1 a/2 b"
    assert chosen(free, held=(offer("a/0"), offer("a"))) == "a/1 b"
    assert chosen(free, held=(offer("a/0"), offer("a/9"))) == "b"


def test_a_worker_takes_only_what_its_labels_cover_and_the_next_one_does_not_wait_for_it() -> None:
    assert (
        chosen([offer("a/1", "gpu"), offer("a/2", "docker", "gpu"), offer("a/3", "docker"), offer("a/4")]) == "a/3 a/4"
    )


def test_a_run_that_failed_here_is_left_to_others() -> None:
    assert chosen([offer("a"), offer("a/1"), offer("b/1")], barred=("a",)) == "b/1"


@pytest.mark.parametrize(
    ("silent_s", "connected", "dead"),
    [(1.0, True, False), (1.0, False, False), (4.0, True, False), (4.0, False, True), (11.0, True, True)],
)
def test_a_worker_is_dead_after_its_lease_or_sooner_without_a_session(
    silent_s: float, connected: bool, dead: bool
) -> None:
    assert is_dead(Silent(id="1", name="ann", lease_s=10, silent_s=silent_s, connected=connected)) is dead


def test_a_workflow_is_offered_with_what_its_task_needs_and_one_without_a_task_takes_no_room() -> None:
    assert offer_of("ab/T1/prove/1", ({"run": "ab"}, {"id": "T1", "needs": ["docker"]}, "base")) == Offer(
        workflow="ab/T1/prove/1", run="ab", needs=("docker",), counts=True
    )
    assert offer_of("ab/T1/ask/1", ({"run": "ab"}, {"question": "?"})) == Offer(
        workflow="ab/T1/ask/1", run="ab", counts=False
    )
