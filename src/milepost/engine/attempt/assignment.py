"""An attempt in the making: what its agent is told, and how what it leaves is kept."""

from __future__ import annotations

from dataclasses import replace

from milepost.agents.fix_prompt import fix_prompt
from milepost.core.attempt import Assignment, Workspace
from milepost.core.errors import MilepostError
from milepost.core.events import AgentSaid
from milepost.core.task import Task
from milepost.engine.attempt.candidate import corrections_of
from milepost.engine.attempt.record import printed_patch
from milepost.engine.context.build_context import ContextView
from milepost.engine.memory.recall import lessons_for
from milepost.engine.records.run_spec import (
    AttemptSpec,
    FinishedAttempt,
    NextAttempt,
    folded,
)
from milepost.engine.services import RunServices
from milepost.engine.verification.verifier import corrected
from milepost.repair.diagnosis.classify import classify
from milepost.repair.diagnosis.evidence import what_failed


def assignment_for(
    services: RunServices,
    effort: AttemptSpec,
    workspace: Workspace,
    tries: tuple[FinishedAttempt, ...],
    way: NextAttempt,
) -> Assignment:
    """What the agent is asked: the task as it is meant, what failed before, what was learnt, what is around it."""
    history, task = tuple(one.attempt for one in tries), effort.task
    diffs = tuple(services.shown(services.mileposts.diff(attempt.base, attempt.commit)) for attempt in history)
    meant = corrected(task, corrections_of(tries))
    view = _view(services, effort, replace(task, files=meant.files), workspace, way)
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
        notes=(*_refused_before(services, effort), *_notes(services, task)),
        rules=() if services.settings.of_agent(effort.agent).clean else services.contexts.rules(view),
        context=_context(services, view, effort),
    )


def _notes(services: RunServices, task: Task) -> tuple[str, ...]:
    """What a person who watches the run said to whoever tries this task from now on."""
    names = {*task.ids, *(one.id for one in task.walk())}
    return tuple(services.redact(note) for note in services.books.steering.notes(names))


def _refused_before(services: RunServices, effort: AttemptSpec) -> tuple[str, ...]:
    """Why a person sent back the work that an earlier run left for them to judge; the newest word counts."""
    runs = services.books.journal.runs()
    ours = {one.run for one in runs if one.order.get("roadmap") == effort.order.roadmap} - {effort.order.run}
    refused = [
        gate
        for gate in services.books.gates.held()
        if gate.run in ours and gate.task in effort.task.ids and gate.answer in ("reject", "edit")
    ]
    return tuple(
        services.redact(f"earlier work on {gate.task} was sent back by {gate.answered_by or 'a person'}: {gate.text}")
        for gate in refused[-1:]
    )


def _context(services: RunServices, view: ContextView, effort: AttemptSpec) -> str:
    """What the agent is shown of the repository; work does not stop where that cannot be made, but it is said."""
    try:
        return services.contexts.of(view).text
    except MilepostError:
        raise
    except Exception as error:
        text = services.redact(f"nothing of the repository is shown: {type(error).__name__}: {error}")
        said = AgentSaid(run=effort.order.run, task=view.task.id, attempt=effort.number, text=text)
        services.announce(said, f"{view.task.id}/{effort.number}/context")
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
