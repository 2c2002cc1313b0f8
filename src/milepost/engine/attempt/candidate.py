"""What an attempt leaves: a commit of its own, and the candidate that would end the task, box ticked."""

from __future__ import annotations

import time
from dataclasses import replace

from milepost.core.attempt import Outcome, Workspace
from milepost.core.errors import MachineFailed
from milepost.core.task import Task
from milepost.engine.records.run_spec import AttemptResult, AttemptSpec, Candidate, FinishedAttempt, RunSpec
from milepost.engine.services import RunServices
from milepost.roadmap import read
from milepost.roadmap.editing.tick import tick_tasks
from milepost.workspace.mileposts import attempt_ref

LONGEST_LINE = 300


def keep(services: RunServices, effort: AttemptSpec, workspace: Workspace, outcome: Outcome) -> AttemptResult:
    """Keep what is in a workspace as a commit on a ref of its own, and make the candidate of it."""
    order, task, base = effort.order, effort.task, workspace.base
    snapshot = services.checkouts.snapshot(workspace, keep=(order.roadmap,))
    tree = snapshot.tree or services.mileposts.tree_of(base)
    message = f"Attempt {effort.number} at {task.id}: {task.title}\n\nby {effort.agent}, not verified\n"
    message = services.redact(message)
    commit = services.mileposts.commit(tree, base, message, order.stamp())
    services.mileposts.keep(attempt_ref(order.run, task.id, effort.number), commit)
    candidate = Candidate(
        attempt=effort.number,
        agent=effort.agent,
        base=base,
        tree=services.mileposts.with_roadmap(tree, order.roadmap, ticked(services, order, task, base)),
        changed=snapshot.changed,
        problem=services.shown(snapshot.problem or _complaint(outcome)),
        doubts=outcome.doubts,
        leaks=snapshot.leaks,
    )
    return AttemptResult(
        candidate=candidate,
        commit=commit,
        left=tree,
        outcome=replace(outcome, said=services.shown(outcome.said), printed=""),
        finished_at=int(time.time()),
        duration_ms=0,
    )


def corrections_of(tries: tuple[FinishedAttempt, ...]) -> tuple[tuple[str, str], ...]:
    """The paths that the attempts so far found wrong in the task, each with the right one."""
    return tries[-1].corrections if tries else ()


def ticked(services: RunServices, order: RunSpec, task: Task, commit: str) -> bytes:
    """The roadmap at a commit with the task ticked, and all that is done with it; a part of a task has no mark."""
    members = [one for one in task.walk() if one.id in task.ids]
    began = read(roadmap_at(services, order, order.base), order.manner).tasks
    return tick_tasks(roadmap_at(services, order, commit), members, began, order.manner)[0]


def roadmap_at(services: RunServices, order: RunSpec, commit: str) -> bytes:
    """The roadmap at a commit."""
    content = services.mileposts.roadmap_at(commit, order.roadmap)
    if content is None:
        raise MachineFailed(f"{order.roadmap} is not in commit {commit[:7]}", "start a new run: milepost run --new")
    return content


def _complaint(outcome: Outcome) -> str:
    """Why an agent that did not finish has not, the first line in short; empty when it says that it has."""
    words = {
        "finished": "",
        "gave_up": "the agent gave up",
        "timed_out": "the agent ran out of time",
        "limited": "the agent's service cannot be asked now",
        "spent": "the task's budget is spent",
    }[outcome.status]
    if not words:
        return ""
    said = outcome.said.strip().splitlines() or ["it did not say why"]
    first_and_last = dict.fromkeys((said[0][:LONGEST_LINE], said[-1][:LONGEST_LINE]))
    return "\n".join([f"{words}: {': '.join(first_and_last)}", *said])
