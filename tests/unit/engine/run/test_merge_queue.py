"""The merge queue: what each step leaves, and who may be merged or queued next."""

from __future__ import annotations

import pytest

from milepost.engine.run.merge_queue import MergeQueue, QueuedMerge

ONE = QueuedMerge(task="1", on="head", commit="head+1", proving="prove-1")
TWO = QueuedMerge(task="2", on="head+1", commit="head+1+2", proving="prove-2")
THREE = QueuedMerge(task="3", on="head+1+2", commit="head+1+2+3")


def queue_of(*merges: QueuedMerge) -> MergeQueue:
    queue = MergeQueue("head")
    for merge in merges:
        queue.wait(merge.task)
        queue.add(merge)
    return queue


def test_each_attempt_is_put_on_top_of_the_one_before_it() -> None:
    assert [queue.end for queue in (queue_of(), queue_of(ONE), queue_of(ONE, TWO, THREE))] == [
        "head",
        "head+1",
        "head+1+2+3",
    ]
    queue = queue_of(ONE, TWO, THREE)
    assert queue.tasks == ("1", "2", "3") and queue.waiting == []
    assert queue.proving == {"prove-1": "1", "prove-2": "2"}, "the tree of the third is verified already"


@pytest.mark.parametrize(
    ("steps", "first"),
    [
        pytest.param([], "", id="the first is still being verified"),
        pytest.param(["proven 2"], "", id="another is verified, the first is not"),
        pytest.param(["proven 1"], "1", id="the first is verified"),
        pytest.param(["doubted 1"], "", id="the first failed and may not be to blame"),
        pytest.param(["proven 1", "merged head+1"], "", id="the second is still being verified"),
        pytest.param(["proven 2", "proven 1", "merged head+1"], "2", id="the second was verified before the first"),
        pytest.param(["proven nobody"], "", id="somebody else is verified"),
    ],
)
def test_only_the_first_may_be_merged_and_only_once_it_is_verified(steps: list[str], first: str) -> None:
    queue = queue_of(ONE, TWO, THREE)
    for step in steps:
        what, _, value = step.partition(" ")
        getattr(queue, what)(value)
    assert queue.next_to_merge == first
    assert queue_of().next_to_merge == "" and queue_of(THREE).next_to_merge == "3"


@pytest.mark.parametrize("doubtful", [False, True])
def test_an_attempt_that_was_verified_or_failed_is_no_longer_being_verified(doubtful: bool) -> None:
    queue = queue_of(ONE, TWO, THREE)
    (queue.doubted if doubtful else queue.proven)("1")
    assert queue.proving == {"prove-2": "2"} and queue.tasks == ("1", "2", "3")
    assert queue.queued[1:] == (TWO, THREE), "the others stay as they are"
    assert queue.queued[0].doubtful is doubtful


@pytest.mark.parametrize(
    ("task", "queued", "waiting"),
    [("1", (), ["2", "3", "9"]), ("2", ("1",), ["3", "9"]), ("3", ("1", "2"), ["9"]), ("9", ("1", "2", "3"), [])],
)
def test_what_leaves_lets_all_behind_it_wait_before_those_that_waited(
    task: str, queued: tuple[str, ...], waiting: list[str]
) -> None:
    queue = queue_of(ONE, TWO, THREE)
    queue.wait("9")
    queue.leave(task)
    assert (queue.queued_tasks, queue.waiting) == (queued, waiting)


def test_a_branch_that_something_else_moved_lets_all_be_queued_anew() -> None:
    queue = queue_of(ONE, TWO)
    queue.restart("moved")
    assert (queue.head, queue.end, queue.queued, queue.waiting) == ("moved", "moved", (), ["1", "2"])


@pytest.mark.parametrize(
    ("waiting", "unfinished", "ordered", "expected"),
    [
        pytest.param([], {"1"}, True, "", id="nobody waits"),
        pytest.param(["3", "2"], {"1"}, False, "3", id="who came first"),
        pytest.param(["3", "2"], {"1"}, True, "", id="held back by one before them"),
        pytest.param(["3", "2"], set[str](), True, "2", id="the first of the plan"),
        pytest.param(["2"], {"3"}, True, "2", id="one behind it holds nobody back"),
    ],
)
def test_in_the_order_of_the_plan_one_waits_for_those_before_it(
    waiting: list[str], unfinished: set[str], ordered: bool, expected: str
) -> None:
    queue = MergeQueue("head")
    for task in waiting:
        queue.wait(task)
    assert queue.next_to_add(("1", "2", "3"), frozenset(unfinished), ordered=ordered) == expected
