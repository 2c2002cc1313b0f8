"""An attempt in the making: what its agent is told, and how what it leaves is kept."""

from __future__ import annotations

import time
from dataclasses import replace

from milepost.agents.fix_prompt import fix_prompt
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.errors import MachineFailed, MilepostError
from milepost.core.events import AgentSaid
from milepost.core.task import Task
from milepost.engine.attempt.record import printed_patch
from milepost.engine.context.build_context import ContextView
from milepost.engine.memory.recall import lessons_for
from milepost.engine.records.run_spec import (
    AttemptResult,
    AttemptSpec,
    Candidate,
    FinishedAttempt,
    NextAttempt,
    RunSpec,
    folded,
)
from milepost.engine.services import RunServices
from milepost.engine.verification.verifier import corrected
from milepost.repair.diagnosis.classify import classify
from milepost.repair.diagnosis.evidence import what_failed
from milepost.roadmap import read
from milepost.roadmap.editing.tick import tick_tasks
from milepost.workspace.mileposts import attempt_ref

LONGEST_LINE = 300


def assignment_for(
    services: RunServices,
    effort: AttemptSpec,
    workspace: Workspace,
    tries: tuple[FinishedAttempt, ...],
    way: NextAttempt,
) -> Assignment:
    """What the agent is asked: the task as it is meant, what failed before, what was learnt, what is around it."""
    history, task = tuple(one.attempt for one in tries), effort.task
    diffs = tuple(services.redact(services.mileposts.diff(attempt.base, attempt.commit)) for attempt in history)
    meant = corrected(task, corrections_of(tries))
    return Assignment(
        run=effort.order.run,
        task=task.id,
        title=task.title,
        text=_text(services, effort, tries),
        attempt=len(folded(history)) + 1,
        files=meant.files,
        verify=meant.verify,
        evidence=what_failed(history, diffs=diffs, advice="\n".join(way.advice)),
        lessons=lessons_for(services, effort, tries, meant.files),
        inputs=task.inputs,
        notes=_notes(services, task),
        context=_context(services, effort, replace(task, files=meant.files), workspace, way),
    )


def _notes(services: RunServices, task: Task) -> tuple[str, ...]:
    """What a person who watches the run said to whoever tries this task from now on."""
    names = {*task.ids, *(one.id for one in task.walk())}
    return tuple(services.redact(note) for note in services.books.steering.notes(names))


def _context(services: RunServices, effort: AttemptSpec, task: Task, workspace: Workspace, way: NextAttempt) -> str:
    """What the agent is shown of the repository; work does not stop where that cannot be made, but it is said."""
    try:
        return services.contexts.of(_view(services, effort, task, workspace, way)).text
    except MilepostError:
        raise
    except Exception as error:
        text = services.redact(f"nothing of the repository is shown: {type(error).__name__}: {error}")
        said = AgentSaid(run=effort.order.run, task=task.id, attempt=effort.number, text=text)
        services.announce(said, f"{task.id}/{effort.number}/context")
        return ""


def _view(
    services: RunServices, effort: AttemptSpec, task: Task, workspace: Workspace, way: NextAttempt
) -> ContextView:
    """What the agent's context is about: all that its attempt begins with."""
    order = effort.order
    return ContextView(
        task=task,
        agent=effort.agent,
        tree=way.tree or services.mileposts.tree_of(workspace.base),
        base=workspace.base,
        since=order.base,
        roadmap=order.roadmap,
        folder=workspace.folder,
        bounds=order.context,
    )


def _text(services: RunServices, effort: AttemptSpec, tries: tuple[FinishedAttempt, ...]) -> str:
    """The task's text, or for an agent that answers with diffs the prompt that asks for one that mends the failure."""
    task, run = effort.task, effort.order.run
    failure = classify(tries[-1].attempt) if tries else None
    if failure is None or printed_patch(services, run, task.id, tries[-1].attempt.number) is None:
        return task.text
    last = tries[-1].attempt
    contents = {path: services.mileposts.file_at(last.base, path) for path in task.files}
    files = {path: content.decode("utf-8", "replace") for path, content in contents.items() if content is not None}
    return services.redact(fix_prompt(task, failure, last.evidence, files))


def keep(services: RunServices, effort: AttemptSpec, workspace: Workspace, outcome: Outcome) -> AttemptResult:
    """Keep what is in a workspace as a commit on a ref of its own, and make the candidate of it."""
    order, task, base = effort.order, effort.task, workspace.base
    snapshot = services.checkouts.snapshot(workspace, keep=(order.roadmap,))
    tree = snapshot.tree or services.mileposts.tree_of(base)
    message = f"Attempt {effort.number} at {task.id}: {task.title}\n\nby {effort.agent}, not verified\n"
    commit = services.mileposts.commit(tree, base, message, order.stamp())
    services.mileposts.keep(attempt_ref(order.run, task.id, effort.number), commit)
    candidate = Candidate(
        attempt=effort.number,
        agent=effort.agent,
        base=base,
        tree=services.mileposts.with_roadmap(tree, order.roadmap, ticked(services, order, task, base)),
        changed=snapshot.changed,
        problem=services.redact(snapshot.problem or _complaint(outcome)),
        doubts=outcome.doubts,
    )
    return AttemptResult(
        candidate=candidate,
        commit=commit,
        left=tree,
        outcome=replace(outcome, said=services.redact(outcome.said), printed=""),
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
