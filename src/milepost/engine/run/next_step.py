"""What happens next with a task, from its attempts so far: pure, so that a resumed run decides the same again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never, cast

from milepost.core.attempt import Attempt
from milepost.core.failures import Failure, FailureClass
from milepost.core.task import Task
from milepost.core.verdict import Verdict
from milepost.engine.records.run_spec import PARTS, ROUTED, FinishedAttempt, NextAttempt, RunSpec, folded, of_last_agent
from milepost.repair.diagnosis.classify import classify
from milepost.repair.strategy.breakers import BreakerLimits, tripped
from milepost.repair.strategy.proposals import proposal_for
from milepost.repair.strategy.retry_policy import counts
from milepost.repair.strategy.strategies import (
    Decompose,
    Defer,
    Dissolve,
    Escalate,
    Mode,
    Retry,
    Rewrite,
    Situation,
    Skip,
    SwitchAgent,
    choose,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSituation:
    """What a decision about a task depends on beside its attempts, as the parent of the run sees it.

    `hand` is the agent that a person handed the next attempt to, `routed` the one that the router chose for the task,
    and `fallback` who goes on with it where the settings name nobody. `together` is how many of its attempts were made
    at all of a group that it led: they do not count any more.
    """

    task: Task
    others: tuple[Task, ...] = ()
    waited_for: tuple[str, ...] = ()
    decomposed: bool = False
    hand: str = ""
    routed: str = ""
    fallback: tuple[str, ...] = ()
    together: int = 0


@dataclass(frozen=True, slots=True)
class Land:
    """The work is proven: make it a milepost."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Try again, this way."""

    way: NextAttempt


@dataclass(frozen=True, slots=True)
class WaitForTask:
    """Try again when another task has its milepost, or its end."""

    until: str


@dataclass(frozen=True, slots=True)
class Split:
    """Do it in parts."""

    parts: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class OneByOne:
    """Do each task of its group by itself."""


@dataclass(frozen=True, slots=True)
class Leave:
    """End the task without a milepost; `proposal` is what a person could do about it."""

    reason: str
    proposal: str = ""


@dataclass(frozen=True, slots=True)
class Hold:
    """Ask a person about the work, which nothing speaks against; `proposal` is what would let it be proven."""

    reason: str
    proposal: str = ""


Next = Land | Repair | WaitForTask | Split | OneByOne | Leave | Hold


def decide(tries: tuple[FinishedAttempt, ...], order: RunSpec, outlook: TaskSituation) -> Next:
    """What to do after the last try."""
    history = folded(tuple(one.attempt for one in tries[outlook.together :]))
    last = history[-1]
    if last.evidence.verdict is Verdict.PASSED:
        return Land()
    if last.evidence.verdict is Verdict.HELD:
        return Hold(last.evidence.reason)
    failure = classify(last)
    if failure is None:
        return Leave(last.evidence.reason)
    if last.evidence.verdict is Verdict.UNVERIFIED and tries[-1].changed and not _is_machines_fault(last, failure):
        return Hold(last.evidence.reason, proposal_for(outlook.task, failure, None, "rewrite"))
    if last.outcome.status == "spent":
        return Leave(
            last.outcome.said, f"raise its limit: add a Budget: line to it, then milepost retry {outlook.task.id}"
        )
    if failure.machine:
        return Leave(
            f"the machine failed, not the work: {failure.summary}",
            f"{failure.machine}, then: milepost retry {outlook.task.id}",
        )
    own = of_last_agent(history)
    limits = BreakerLimits(attempts=order.attempts, cost_usd=_task_usd(order, outlook.task))
    earlier = sum(attempt.outcome.cost_usd for attempt in history) - sum(one.outcome.cost_usd for one in own)
    if limits.cost_usd is not None:
        limits = replace(limits, cost_usd=max(0.0, limits.cost_usd - earlier))
    diagnosis = tripped(own, tuple(_diff(attempt) for attempt in own), limits)
    fallbacks = (
        ()
        if _is_hopeless(failure, history, _task_usd(order, outlook.task))
        else _unused(order.repairs.fallback or outlook.fallback, history)
    )
    situation = Situation(
        mode=cast(Mode, order.repairs.mode),
        run=order.run,
        task=outlook.task,
        attempts_left=order.attempts - sum(map(_counts, own)),
        fallbacks=fallbacks,
        others=outlook.others,
        waited_for=frozenset(outlook.waited_for),
        decomposed=outlook.decomposed,
        now=tries[-1].finished_at,
    )
    match choose(own, failure, diagnosis, situation):
        case Retry(start=start, advice=advice, wait_s=wait_s):
            tree = tries[-1].left if start == "attempt" else ""
            return Repair(NextAttempt(agent=last.agent, tree=tree, advice=_lines(advice), wait_s=wait_s))
        case SwitchAgent(name=name, advice=advice):
            return Repair(NextAttempt(agent=name, advice=_lines(advice)))
        case Defer(until_task=until):
            return WaitForTask(until)
        case Decompose(parts=parts):
            return Split(parts)
        case Dissolve():
            return OneByOne()
        case Escalate() | Skip() if fallbacks and order.repairs.mode == "auto-fix":
            return Repair(NextAttempt(agent=fallbacks[0]))
        case Escalate(proposal=proposal) | Rewrite(proposal=proposal):
            return Leave(last.evidence.reason, proposal)
        case Skip(reason=reason):
            return Leave(reason)
        case _ as never:
            assert_never(never)


def first_way(tries: tuple[FinishedAttempt, ...], order: RunSpec, outlook: TaskSituation) -> NextAttempt:
    """How a task is taken up: by whom the router chose or its author names, or as the attempts before tell."""
    history = folded(tuple(one.attempt for one in tries[outlook.together :]))
    if outlook.decomposed and not any(one.attempt.agent == PARTS for one in tries):
        return NextAttempt(agent=PARTS)
    if not history:
        return NextAttempt(agent=outlook.hand or named(order, outlook))
    if outlook.hand:
        return NextAttempt(agent=outlook.hand)
    onward = decide(tries, order, outlook)
    return (
        NextAttempt(agent=onward.way.agent, advice=onward.way.advice)
        if isinstance(onward, Repair)
        else NextAttempt(agent=history[-1].agent)
    )


def named(order: RunSpec, outlook: TaskSituation) -> str:
    """Whom the task names, else the run; where that is the router, whom it chose."""
    name = outlook.task.agent or order.agent
    return outlook.routed if name in ROUTED and outlook.routed else name


def _unused(agents: tuple[str, ...], history: tuple[Attempt, ...]) -> tuple[str, ...]:
    used = {attempt.agent for attempt in history}
    return tuple(name for name in agents if name not in used)


def _is_hopeless(failure: Failure, history: tuple[Attempt, ...], most_usd: float | None) -> bool:
    """Whether another agent would fare no better: the money is spent, or the machine lacks a program."""
    spent = sum(attempt.outcome.cost_usd for attempt in history)
    over = most_usd is not None and spent >= most_usd
    return over or (failure.kind is FailureClass.TOOL_FAILURE and failure.check != "agent")


def _is_machines_fault(attempt: Attempt, failure: Failure) -> bool:
    """Whether a machine that lacks something is why nothing could be verified: that is no question about the work."""
    environment = [check for check in attempt.evidence.checks if check.name == "environment"]
    lacking = any(one.outcome == "absent" and (one.needed or "could not" in one.summary) for one in environment)
    return lacking or failure.kind is FailureClass.TOOL_FAILURE


def _task_usd(order: RunSpec, task: Task) -> float | None:
    """What a task may cost: by its own line, else as for all tasks."""
    return order.budget.of_task(task.budget).usd


def _counts(attempt: Attempt) -> bool:
    failure = classify(attempt)
    return failure is not None and counts(failure)


def _diff(attempt: Attempt) -> str:
    """What stands for an attempt's change: the same change of the same base makes the same tree."""
    nothing = any(check.name in ("files", "agent") and check.outcome == "failed" for check in attempt.evidence.checks)
    return "" if nothing else f"{attempt.base}..{attempt.evidence.tree}"


def _lines(advice: str) -> tuple[str, ...]:
    return tuple(line for line in advice.splitlines() if line.strip())
