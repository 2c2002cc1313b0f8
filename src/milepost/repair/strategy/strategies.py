"""What to do about a failed attempt: one strategy, chosen from the evidence and the situation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from milepost.core.attempt import Attempt
from milepost.core.failures import Failure, FailureClass
from milepost.core.task import Task
from milepost.core.task_parts import is_vague, parts_of
from milepost.core.verdict import Verdict
from milepost.repair.diagnosis.classify import classify
from milepost.repair.diagnosis.progress import regressed, shrinking
from milepost.repair.diagnosis.service_errors import stated_wait_s
from milepost.repair.strategy.advice import advice_for
from milepost.repair.strategy.breakers import Diagnosis
from milepost.repair.strategy.proposals import proposal_for
from milepost.repair.strategy.retry_policy import delay_s, remedy, wait_for_service_s
from milepost.repair.strategy.split import maker_of, provable

Mode = Literal["no-adapt", "suggest", "auto-fix"]
Start = Literal["base", "attempt"]

REFUSED = ("names", "counter-proof", "audit", "changed tests", "scope", "secrets", "merge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Another attempt by the same agent: from the base or from what this one left, with advice, after a wait."""

    start: Start
    advice: str
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchAgent:
    """Another attempt, from the base, by another agent."""

    name: str
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defer:
    """Try again when another task, which makes what is missing, has its milepost."""

    until_task: str
    missing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decompose:
    """Do it in parts, one after the other; the task itself waits for them."""

    parts: tuple[Task, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dissolve:
    """Do each task of its group by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """Leave it until a person has said more in the roadmap."""

    proposal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Leave it without asking anybody for anything."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalate:
    """Leave it to a person, with a proposal."""

    proposal: str


Strategy = Retry | SwitchAgent | Defer | Decompose | Dissolve | Rewrite | Skip | Escalate


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a choice depends on beside the attempts: how far to go by itself, and what is left to go on with.

    `others` are the open tasks beside this one that may still end with a milepost, `waited_for` those
    that this task waited for already; `now` is when the last attempt ended, in seconds since 1970.
    """

    mode: Mode
    run: str
    task: Task
    attempts_left: int
    fallbacks: tuple[str, ...] = ()
    others: tuple[Task, ...] = ()
    waited_for: frozenset[str] = frozenset()
    decomposed: bool = False
    now: float = 0.0


def choose(
    history: tuple[Attempt, ...], failure: Failure, diagnosis: Diagnosis | None, situation: Situation
) -> Strategy:
    """The strategy after the last attempt of `history`, which failed as `failure` says."""
    match situation.mode:
        case "no-adapt":
            return Skip(reason=diagnosis.what if diagnosis else failure.summary)
        case "suggest":
            return _suggested(_best(history, failure, diagnosis, situation), failure, situation)
        case "auto-fix":
            return _best(history, failure, diagnosis, situation)
        case _ as never:
            assert_never(never)


def _best(
    history: tuple[Attempt, ...], failure: Failure, diagnosis: Diagnosis | None, situation: Situation
) -> Strategy:
    task = situation.task
    if history[-1].evidence.verdict is Verdict.UNVERIFIED or _says_too_little(task, failure):
        return Rewrite(proposal=proposal_for(task, failure, diagnosis, "rewrite"))
    if remedy(failure) == "never":
        return _other_agent(situation, failure) or _escalate(failure, diagnosis, situation)
    if diagnosis is not None and diagnosis.breaker in ("cost", "attempts", "limited"):
        return _end(history, failure, diagnosis, situation)
    if situation.attempts_left <= 0:
        return _end(history, failure, diagnosis, situation)
    if (deferred := _defer(failure, situation)) is not None:
        return deferred
    if _is_too_large(history, failure, diagnosis) and (split := _decompose(situation)) is not None:
        return split
    if diagnosis is not None or _lacks_a_program_twice(history, failure):
        return _other_agent(situation, failure) or _escalate(failure, diagnosis, situation)
    return _retry(history, failure, situation)


def _end(history: tuple[Attempt, ...], failure: Failure, diagnosis: Diagnosis | None, situation: Situation) -> Strategy:
    """No attempt is left: parts of it, when it was too large, have attempts of their own; else it is left."""
    spent = diagnosis is not None and diagnosis.breaker == "cost"
    if not spent and _is_too_large(history, failure, diagnosis) and (split := _decompose(situation)) is not None:
        return split
    if failure.kind is FailureClass.INCOMPLETE_IMPLEMENTATION and is_vague(situation.task):
        return Rewrite(proposal=proposal_for(situation.task, failure, diagnosis, "rewrite"))
    if remedy(failure) == "wait" and failure.check != "agent" and not failure.subject:
        return Skip(reason=f"the machine failed, not the work: {failure.summary}")
    return _escalate(failure, diagnosis, situation)


def _suggested(best: Strategy, failure: Failure, situation: Situation) -> Strategy:
    """The same, in words for a person, where it would have been done."""
    task = situation.task
    match best:
        case Retry():
            return Escalate(proposal=proposal_for(task, failure, None, "retry"))
        case SwitchAgent(name=name):
            return Escalate(proposal=proposal_for(task, failure, None, "switch", name=name))
        case Defer(until_task=other):
            return Escalate(proposal=proposal_for(task, failure, None, "defer", name=other))
        case Decompose(parts=parts):
            return Escalate(proposal=proposal_for(task, failure, None, "decompose", parts=parts))
        case Dissolve():
            return Escalate(proposal=proposal_for(task, failure, None, "dissolve"))
        case Rewrite() | Skip() | Escalate():
            return best
        case _ as never:
            assert_never(never)


def _retry(history: tuple[Attempt, ...], failure: Failure, situation: Situation) -> Retry:
    start = start_of_next(history, failure)
    number = history[-1].number
    match remedy(failure):
        case "park":
            stated = stated_wait_s(history[-1].outcome.said, situation.now)
            wait_s = wait_for_service_s(stated, _limited_before(history))
        case "wait":
            wait_s = delay_s(number, run=situation.run, task=situation.task.id)
        case "again" | "never":
            wait_s = 0.0
    return Retry(start=start, advice=advice_for(failure, start=start, number=number), wait_s=wait_s)


def _limited_before(history: tuple[Attempt, ...]) -> int:
    """How many attempts in a row, before the last one, ended at the limit of their service."""
    failures = [classify(attempt) for attempt in history[-2::-1]]
    others = (number for number, one in enumerate(failures) if one is None or remedy(one) != "park")
    return next(others, len(failures))


def start_of_next(history: tuple[Attempt, ...], failure: Failure) -> Start:
    """Where the next attempt starts: from what the last one left when that is sound and nearer, else from the base.

    An agent that was cut short left work that nobody has refused; going on from it is what it was about to do.
    """
    last = history[-1]
    failed = {check.name.partition(" (")[0] for check in last.evidence.checks if check.outcome == "failed"}
    tampered = bool(failed & set(REFUSED)) or failure.kind in (FailureClass.WRONG_APPROACH, FailureClass.SCOPE_CREEP)
    grew = len(regressed(last)) > (len(regressed(history[-2])) if len(history) > 1 else 0)
    if tampered or (failure.kind is FailureClass.REGRESSION and grew):
        return "base"
    cut_short = failure.check == "agent" and failure.kind in (FailureClass.TIMEOUT, FailureClass.API_ERROR)
    return "attempt" if cut_short or shrinking(history) else "base"


def _says_too_little(task: Task, failure: Failure) -> bool:
    """Whether nobody could know what to do: a check that points at a line of the work gives something to go on."""
    pointless = failure.kind in (FailureClass.UNKNOWN, FailureClass.CONTEXT_MISSING)
    unfinished = failure.kind is FailureClass.INCOMPLETE_IMPLEMENTATION and failure.check in ("files", "agent")
    return (pointless or unfinished) and is_vague(task)


def _defer(failure: Failure, situation: Situation) -> Defer | None:
    if failure.kind not in (FailureClass.IMPORT_ERROR, FailureClass.FILE_NOT_FOUND):
        return None
    maker = maker_of(failure.subject, situation.task, situation.others)
    if maker is None or maker.id in situation.waited_for:
        return None
    return Defer(until_task=maker.id, missing=failure.subject)


def _is_too_large(history: tuple[Attempt, ...], failure: Failure, diagnosis: Diagnosis | None) -> bool:
    """Whether an attempt cannot hold the task: no room in the prompt, no time, or a part undone each time."""
    if failure.kind is FailureClass.CONTEXT_OVERWHELMING:
        return True
    if diagnosis is not None and diagnosis.breaker == "no_progress":
        return True
    signs = (FailureClass.TIMEOUT, FailureClass.PARTIAL_CHANGE, FailureClass.INCOMPLETE_IMPLEMENTATION)
    if failure.kind not in signs or (failure.kind is FailureClass.TIMEOUT and failure.check != "agent"):
        return False
    earlier = [classify(attempt) for attempt in history[:-1]]
    return any(one is not None and one.kind in signs for one in earlier)


def _decompose(situation: Situation) -> Decompose | Dissolve | None:
    if situation.task.members:
        return Dissolve()
    if situation.decomposed:
        return None
    parts = parts_of(situation.task)
    return Decompose(parts=parts) if parts and provable(parts) else None


def _other_agent(situation: Situation, failure: Failure) -> SwitchAgent | None:
    if not situation.fallbacks or situation.attempts_left <= 0:
        return None
    return SwitchAgent(name=situation.fallbacks[0], advice=advice_for(failure, start="base"))


def _lacks_a_program_twice(history: tuple[Attempt, ...], failure: Failure) -> bool:
    """A program that is still not there after a second attempt is the machine's or the roadmap's to give."""
    if failure.kind is not FailureClass.TOOL_FAILURE or not failure.subject or len(history) < 2:
        return False
    before = classify(history[-2])
    return before is not None and before.kind is failure.kind and before.subject == failure.subject


def _escalate(failure: Failure, diagnosis: Diagnosis | None, situation: Situation) -> Escalate:
    parts = () if situation.decomposed or situation.task.members else parts_of(situation.task)
    large = diagnosis is not None and diagnosis.breaker == "no_progress"
    way: Literal["split", "look"] = "split" if large and parts else "look"
    return Escalate(proposal=proposal_for(situation.task, failure, diagnosis, way, parts=parts))
