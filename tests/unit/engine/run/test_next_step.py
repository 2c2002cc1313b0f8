"""What happens next with a task, from its attempts so far."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.attempt import Attempt, Outcome, OutcomeStatus
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, TestCase, judge
from milepost.engine.memory.episodes import judges_agent
from milepost.engine.records.run_spec import PARTS, FinishedAttempt, Repairs, RunSpec, folded
from milepost.engine.run.next_step import (
    Hold,
    Land,
    Leave,
    Repair,
    Split,
    TaskSituation,
    WaitForTask,
    decide,
    first_way,
)
from milepost.repair.diagnosis.classify import classify
from milepost.repair.strategy.retry_policy import counts
from milepost.workspace.repository import Identity, Position

TASK = Task(id="T1", title="Add f to a", status="open", line=1, files=("a.py",), verify=("pytest",))
OUTLOOK = TaskSituation(task=TASK)
ORDER = RunSpec(
    run="r",
    roadmap="ROADMAP.md",
    base="b",
    ahead="",
    user=Position(branch="main", commit="b"),
    tasks=("T1",),
    wished=(),
    max_tasks=None,
    agent="one",
    trust="isolated",
    parallel=1,
    attempts=3,
    task_timeout_s=1,
    idle_timeout_s=1,
    check_timeout_s=1,
    identity=Identity(name="a", email="b"),
    started_at=0,
)
PASS = CheckResult(name="verify", outcome="passed", summary="exit 0", decisive=True)


def failing(*tests: str) -> CheckResult:
    cases = tuple(TestCase(id=name, outcome="failed", message=f"{name} is wrong", kind="assertion") for name in tests)
    return CheckResult(name="tests", outcome="failed", summary=f"{tests[0]}: wrong", cases=cases)


def tried(
    number: int,
    *checks: CheckResult,
    agent: str = "one",
    status: OutcomeStatus = "finished",
    said: str = "",
    tree: str = "",
) -> FinishedAttempt:
    evidence = judge(tree or f"tree {number}", checks)
    outcome = Outcome(status=status, said=said)
    attempt = Attempt(
        number=number, agent=agent, base="b", commit="c", outcome=outcome, evidence=evidence, duration_ms=1
    )
    return FinishedAttempt(attempt=attempt, proven_on="b", finished_at=1_000, left=f"left {number}")


def test_proven_work_lands_and_work_that_no_check_can_judge_is_left_with_a_proposal() -> None:
    assert decide((tried(1, failing("a")), tried(2, PASS)), ORDER, OUTLOOK) == Land()
    left = decide((tried(1),), ORDER, OUTLOOK)
    assert isinstance(left, Leave)
    assert left.reason == "no check could say whether this is done"


def test_held_work_is_asked_about_at_once_and_so_is_a_change_that_nothing_could_verify() -> None:
    held = CheckResult(name="changed tests", outcome="held", summary="test_f expects 2 now")
    assert decide((tried(1, held),), ORDER, OUTLOOK) == Hold("test_f expects 2 now")
    assert decide((tried(1, held),), replace(ORDER, repairs=Repairs(mode="no-adapt")), OUTLOOK) == Hold(
        "test_f expects 2 now"
    )
    asked = decide((replace(tried(1), changed=("a.py",)),), ORDER, OUTLOOK)
    assert isinstance(asked, Hold) and "milepost retry T1" in asked.proposal
    lacking = CheckResult(name="environment", outcome="absent", summary="could not install the dependencies")
    assert isinstance(decide((replace(tried(1, lacking), changed=("a.py",)),), ORDER, OUTLOOK), Leave)


def test_attempts_at_all_of_a_group_do_not_count_for_the_task_that_led_it() -> None:
    tries = (tried(1, failing("a")), tried(2, failing("a")), tried(3, failing("a")), tried(4, failing("b")))
    assert isinstance(decide(tries, ORDER, OUTLOOK), Leave)
    assert isinstance(decide(tries, ORDER, replace(OUTLOOK, together=3)), Repair)


def test_a_failed_attempt_is_repaired_until_no_attempt_is_left() -> None:
    one, two, three = tried(1, failing("a", "b", "c")), tried(2, failing("a", "b")), tried(3, failing("a"))
    assert isinstance(decide((one,), ORDER, OUTLOOK), Repair)
    onward = decide((one, two), ORDER, OUTLOOK)
    assert isinstance(onward, Repair)
    assert onward.way.tree == "left 2", "fewer tests fail: what is left is worth going on from"
    assert isinstance(decide((one, two, three), ORDER, OUTLOOK), Leave)


def test_what_tampered_with_tests_is_not_gone_on_from() -> None:
    changed = CheckResult(name="changed tests", outcome="failed", summary="a red test was removed")
    onward = decide((tried(1, failing("a", "b")), tried(2, changed)), ORDER, OUTLOOK)
    assert isinstance(onward, Repair)
    assert onward.way.tree == ""


def test_the_same_change_again_ends_it_before_the_attempts_are_used_up() -> None:
    same = (tried(1, failing("a"), tree="t"), tried(2, failing("a"), tree="t"))
    ended = decide(same, replace(ORDER, attempts=9), OUTLOOK)
    assert isinstance(ended, Leave)
    assert "same change" in ended.proposal


def test_an_agent_that_does_not_get_further_is_followed_by_the_next_with_attempts_of_its_own() -> None:
    order = replace(ORDER, attempts=1, repairs=Repairs(fallback=("two", "three")))
    one = tried(1, failing("a"))
    onward = decide((one,), order, OUTLOOK)
    assert isinstance(onward, Repair)
    assert onward.way.agent == "two"
    two = tried(2, failing("a"), agent="two")
    onward = decide((one, two), order, OUTLOOK)
    assert isinstance(onward, Repair)
    assert onward.way.agent == "three"
    assert isinstance(decide((one, two, tried(3, failing("a"), agent="three")), order, OUTLOOK), Leave)


@pytest.mark.parametrize("mode", ["no-adapt", "suggest"])
def test_without_leave_to_adapt_one_attempt_is_all(mode: str) -> None:
    order = replace(ORDER, repairs=Repairs(mode=mode, fallback=("two",)))
    ended = decide((tried(1, failing("a")),), order, OUTLOOK)
    assert isinstance(ended, Leave)
    assert bool(ended.proposal) == (mode == "suggest")


def test_a_limited_service_is_waited_for_and_burns_no_attempt() -> None:
    limited = tried(1, status="limited", said="limit reached: try again in 90 s")
    agent = CheckResult(name="agent", outcome="failed", summary="the agent's service cannot be asked now")
    limited = replace(limited, attempt=replace(limited.attempt, evidence=judge("t", (agent,))))
    onward = decide((limited,), replace(ORDER, attempts=1), OUTLOOK)
    assert isinstance(onward, Repair)
    assert onward.way.wait_s == 90


def test_a_machine_at_fault_ends_the_task_as_that_and_burns_no_attempt() -> None:
    said = "connect ECONNREFUSED 127.0.0.1:6379"
    refused = CheckResult(name="verify", outcome="failed", summary="exit 1", log=said, exit_code=1, before="failed")
    left = decide((tried(1, refused), tried(2, refused)), ORDER, OUTLOOK)
    assert isinstance(left, Leave)
    assert left.reason == "the machine failed, not the work: Redis on port 6379 cannot be reached from the sandbox"
    assert '[sandbox] network = ["127.0.0.1:6379"]' in left.proposal and "milepost retry" in left.proposal
    failure = classify(tried(1, refused).attempt)
    assert failure is not None and not counts(failure)
    assert not judges_agent(tried(1, refused).attempt, failure)


def test_a_missing_module_that_another_task_makes_is_waited_for_once() -> None:
    error = TestCase(id="t", outcome="failed", message="ModuleNotFoundError: No module named 'shop'", kind="import")
    check = CheckResult(name="tests", outcome="failed", summary=error.message, cases=(error,))
    maker = Task(id="T2", title="Shop", status="open", line=5, files=("shop.py",))
    outlook = replace(OUTLOOK, others=(maker,))
    assert decide((tried(1, check),), ORDER, outlook) == WaitForTask("T2")
    assert isinstance(decide((tried(1, check),), ORDER, replace(outlook, waited_for=("T2",))), Repair)


def test_a_task_that_is_too_large_is_done_in_its_parts_and_then_put_together() -> None:
    parts = tuple(Task(id=f"T1.{n}", title=f"Part {n}", status="open", line=n, verify=("true",)) for n in (1, 2))
    outlook = TaskSituation(task=replace(TASK, subtasks=parts))
    late = CheckResult(name="agent", outcome="failed", summary="the agent ran out of time")
    history = tuple(tried(n, late, status="timed_out", said="timed out after 9 s") for n in (1, 2))
    onward = decide(history, ORDER, outlook)
    assert isinstance(onward, Split)
    assert [part.id for part in onward.parts] == ["T1.1", "T1.2"]
    assert first_way(history, ORDER, replace(outlook, decomposed=True)).agent == PARTS


def test_what_recipes_made_of_an_attempt_counts_as_that_attempt() -> None:
    recipe = tried(2, failing("b"), agent="recipe:missing dependency")
    (one,) = folded((tried(1, failing("a")).attempt, recipe.attempt))
    assert (one.agent, one.number) == ("one", 1)
    assert one.evidence == recipe.attempt.evidence
    assert first_way((tried(1, failing("a")), recipe), ORDER, OUTLOOK).agent == "one"


def test_a_task_begins_with_whom_it_names() -> None:
    assert first_way((), ORDER, OUTLOOK).agent == "one"
    assert first_way((), ORDER, TaskSituation(task=replace(TASK, agent="pattern:x"))).agent == "pattern:x"
