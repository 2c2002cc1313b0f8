"""How a run stands, briefly: for whoever looks at it again and again and pays for every word."""

from __future__ import annotations

from pathlib import Path

import milepost
import milepost.gates
from milepost import reports, runs
from milepost.core.verdict import Question
from milepost.mcp.tool import Brief

LONGEST = 300
QUESTIONS = 12  # lines of them


class Ended(Brief):
    """A task that is over; `reason` is why it has no milepost, or who accepted it."""

    task: str
    commit: str = ""
    reason: str = ""


class AtWork(Brief):
    task: str
    stage: str
    attempt: int = 1


class Asked(Brief):
    """A question to a person; `shown` is the beginning of what they decide on."""

    gate: str
    task: str
    kind: str
    question: str
    digest: str
    shown: str = ""


class HeldTask(Brief):
    """Not done: only a person can judge it."""

    task: str
    reason: str = ""
    questions: tuple[str, ...] = ()


class Result(Brief):
    """`by_hand` is what is left to do to take the branch in, where it was not taken in."""

    complete: bool
    branch: str
    taken_in: str = ""
    by_hand: str = ""


class RunStatus(Brief):
    """`state`: none, running, finished, interrupted (run_start goes on with it) or left."""

    state: str
    run: str = ""
    tasks: int = 0
    done: tuple[Ended, ...] = ()
    accepted: tuple[Ended, ...] = ()
    held: tuple[HeldTask, ...] = ()
    failed: tuple[Ended, ...] = ()
    at_work: tuple[AtWork, ...] = ()
    waits_for_person: tuple[Asked, ...] = ()
    waits: tuple[str, ...] = ()
    to_do: int = 0
    seconds: int = 0
    cost_usd: float = 0.0
    tokens: int = 0
    result: Result | None = None
    left_out: int = 0
    next: str = ""


def standing_of(roadmap: Path, run: str | None, limit: int) -> RunStatus:
    """The newest run as it stands, or an older one as it was left."""
    found = milepost.status(roadmap)
    if run is not None and (found is None or found.run != run.lower()):
        story = reports.of_run(roadmap, run=run)
        return of_story(story, limit) if isinstance(story, reports.RunStory) else RunStatus(state="none")
    if found is None:
        return RunStatus(state="none", next="run_start")
    gates = tuple(gate for gate in milepost.waiting_gates(roadmap) if gate.over or gate.run == found.run)
    why = runs.detached_error(found.run, roadmap) if found.state == "interrupted" else ""
    return of_status(found, gates, limit, why)


def of_status(found: milepost.Status, gates: tuple[milepost.gates.Gate, ...], limit: int, why: str = "") -> RunStatus:
    """The newest run, by what its journal says."""
    over = {one.event.task: one.event for one in found.entries if isinstance(one.event, milepost.TaskFinished)}
    progress = found.progress
    done = [_ended(one) for one in over.values() if one.commit and one.verdict is milepost.Verdict.PASSED]
    accepted = [_ended(one) for one in over.values() if one.commit and one.verdict is not milepost.Verdict.PASSED]
    held = _held(found.run, over, gates)
    failed = [_ended(one) for one in over.values() if not one.commit and one.verdict is not milepost.Verdict.HELD]
    asked = [_asked(gate) for gate in gates if gate.over or not found.summary]
    waits = [why] if why else []
    if progress is not None:
        waits += [f"{one.task} {one.what}".strip()[:LONGEST] for one in progress.waiting if one.kind != "person"]
    spent = progress.spent if progress else None
    return RunStatus(
        state=found.state,
        run=found.run,
        tasks=progress.asked if progress else len(over),
        done=done[-limit:],
        accepted=accepted[-limit:],
        held=held[:limit],
        failed=failed[-limit:],
        at_work=[
            AtWork(task=one.stage.task, stage=one.stage.stage, attempt=one.stage.attempt)
            for one in (progress.in_work if progress and found.state == "running" else ())
        ][:limit],
        waits_for_person=asked[:limit],
        waits=waits[:limit],
        to_do=len(progress.to_do) + len(progress.blocked) if progress else 0,
        seconds=round(progress.worked_s) if progress else 0,
        cost_usd=round(spent.usd, 4) if spent else 0.0,
        tokens=spent.tokens if spent else 0,
        result=_result(found.summary) if found.summary else None,
        left_out=sum(max(0, len(several) - limit) for several in (done, accepted, held, failed, asked)),
        next=_next(found.state, asked),
    )


def of_story(story: reports.RunStory, limit: int) -> RunStatus:
    """An older run, by its report."""
    done = [Ended(task=one.id, commit=one.commit) for one in story.standing("passed")]
    failed = [Ended(task=one.id, reason=one.reason[:LONGEST]) for one in story.standing("failed", "unverified")]
    accepted = [Ended(task=one.id, commit=one.commit, reason=one.reason) for one in story.standing("accepted")]
    held = [
        HeldTask(
            task=one.id,
            reason=one.reason[:LONGEST],
            questions=tuple(_question(text) for text in (one.attempts[-1].questions if one.attempts else ()))[
                :QUESTIONS
            ],
        )
        for one in story.standing("held")
    ]
    return RunStatus(
        state=story.state,
        run=story.run,
        tasks=len(story.tasks),
        done=done[-limit:],
        accepted=accepted[-limit:],
        held=held[:limit],
        failed=failed[-limit:],
        to_do=len(story.standing("working", "asking", "waiting")),
        seconds=round(story.seconds),
        cost_usd=round(story.costs.usd, 4),
        tokens=story.costs.tokens,
        left_out=sum(max(0, len(several) - limit) for several in (done, accepted, held, failed)),
    )


def _ended(event: milepost.TaskFinished) -> Ended:
    if event.commit:
        by_person = event.verdict is not milepost.Verdict.PASSED
        return Ended(task=event.task, commit=event.commit, reason=event.reason[:LONGEST] if by_person else "")
    return Ended(task=event.task, reason=event.reason[:LONGEST])


def _held(run: str, over: dict[str, milepost.TaskFinished], gates: tuple[milepost.gates.Gate, ...]) -> list[HeldTask]:
    """Held work of a run, also while that is on, and what is asked about it."""
    asked = {gate.task: gate for gate in gates if gate.kind == "held" and gate.run == run}
    ended = {name: one.reason for name, one in over.items() if one.verdict is milepost.Verdict.HELD and not one.commit}
    waiting = {name: gate.question.partition("\n")[0] for name, gate in asked.items() if name not in over}
    return [
        HeldTask(task=name, reason=reason[:LONGEST], questions=_lines(asked[name]) if name in asked else ())
        for name, reason in {**ended, **waiting}.items()
    ]


def _lines(gate: milepost.gates.Gate) -> tuple[str, ...]:
    lines = f"\n{gate.shown}".partition("\ncommit ")[0].splitlines()
    return tuple(line[:LONGEST] for line in lines if line)[:QUESTIONS]


def _question(one: Question) -> str:
    changed = f": was {one.before}, now {one.after}" if one.before or one.after else ""
    return f"{one.text}{changed}"[:LONGEST]


def _asked(gate: milepost.gates.Gate) -> Asked:
    return Asked(
        gate=gate.gate,
        task=gate.task,
        kind=gate.kind,
        question=gate.question[:LONGEST],
        digest=gate.digest[:12],
        shown=gate.shown[:LONGEST],
    )


def _result(summary: milepost.RunFinished) -> Result:
    return Result(
        complete=summary.passed,
        branch=summary.branch,
        taken_in=summary.fast_forwarded,
        by_hand=summary.by_hand[:LONGEST],
    )


def _next(state: str, asked: list[Asked]) -> str:
    """What to do now; a question about held work stops no run."""
    waits = any(one.kind != "held" for one in asked)
    match state:
        case "running":
            return "answer" if waits else "run_status wait_s=50"
        case "interrupted":
            return "answer, then run_start" if waits else "run_start continues it"
        case "left":
            return "run_start"
        case "finished" if asked:
            return "a person answers what is held"
        case _:
            return ""
