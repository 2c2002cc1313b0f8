"""How a run stands, briefly: for whoever looks at it again and again and pays for every word."""

from __future__ import annotations

from pathlib import Path

import milepost
import milepost.gates
from milepost import reports, runs
from milepost.mcp.tool import Brief

LONGEST = 300


class Ended(Brief):
    """A task that is over; `reason` is why it has no milepost."""

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
    gates = tuple(gate for gate in milepost.waiting_gates(roadmap) if gate.run == found.run)
    why = runs.detached_error(found.run, roadmap) if found.state == "interrupted" else ""
    return of_status(found, gates, limit, why)


def of_status(found: milepost.Status, gates: tuple[milepost.gates.Gate, ...], limit: int, why: str = "") -> RunStatus:
    """The newest run, by what its journal says."""
    over = {one.event.task: one.event for one in found.entries if isinstance(one.event, milepost.TaskFinished)}
    progress = found.progress
    passed = progress.passed if progress else tuple(name for name, one in over.items() if one.commit)
    done = [_ended(over[name]) for name in passed if name in over]
    failed = [_ended(one) for name, one in over.items() if name not in passed]
    asked = [] if found.summary else [_asked(gate) for gate in gates]
    waits = [why] if why else []
    if progress is not None:
        waits += [f"{one.task} {one.what}".strip()[:LONGEST] for one in progress.waiting if one.kind != "person"]
    spent = progress.spent if progress else None
    return RunStatus(
        state=found.state,
        run=found.run,
        tasks=progress.asked if progress else len(over),
        done=done[-limit:],
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
        left_out=sum(max(0, len(several) - limit) for several in (done, failed, asked)),
        next=_next(found.state, bool(asked)),
    )


def of_story(story: reports.RunStory, limit: int) -> RunStatus:
    """An older run, by its report."""
    done = [Ended(task=one.id, commit=one.commit) for one in story.standing("passed")]
    failed = [Ended(task=one.id, reason=one.reason[:LONGEST]) for one in story.standing("failed", "unverified")]
    return RunStatus(
        state=story.state,
        run=story.run,
        tasks=len(story.tasks),
        done=done[-limit:],
        failed=failed[-limit:],
        to_do=len(story.standing("working", "asking", "waiting")),
        seconds=round(story.seconds),
        cost_usd=round(story.costs.usd, 4),
        tokens=story.costs.tokens,
        left_out=sum(max(0, len(several) - limit) for several in (done, failed)),
    )


def _ended(event: milepost.TaskFinished) -> Ended:
    if event.commit:
        return Ended(task=event.task, commit=event.commit)
    return Ended(task=event.task, reason=event.reason[:LONGEST])


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


def _next(state: str, asked: bool) -> str:
    match state:
        case "running":
            return "answer" if asked else "run_status wait_s=50"
        case "interrupted":
            return "answer, then run_start" if asked else "run_start continues it"
        case "left":
            return "run_start"
        case _:
            return ""
