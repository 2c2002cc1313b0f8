"""What an agent would be shown for a task now: the same context that its first attempt would get. Changes nothing."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.agents.prompt import prompt_for
from milepost.core.attempt import Assignment
from milepost.core.errors import TaskUnknown
from milepost.core.secrets.redact import Redactor
from milepost.core.task import Task
from milepost.engine.agents.factory import agent_name
from milepost.engine.context.build_context import Contexts, ContextView, bounds_for, bounds_of
from milepost.engine.context.tag_cache import TagCache
from milepost.engine.planning.make_plan import manner_of, planned, planning_of
from milepost.engine.project.project import Project, read_bytes
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.settings.load import load
from milepost.engine.records.call_log import CallLog
from milepost.engine.records.journal import Journal
from milepost.plan.context.build_context import Context, ContextBounds
from milepost.workspace.checkout import Checkouts

USUAL = "tool"  # whose context is shown where nobody is named


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """The context of a task at a commit, for an agent; `bounded` is why its budget is less than was asked for.

    `rules` are those of the repository that it is shown beside it, each with its file.
    """

    task: str
    title: str
    agent: str
    commit: str
    context: Context
    bounded: str = ""
    rules: tuple[tuple[str, str], ...] = ()


def context_now(roadmap: Path | None, task: str, *, tokens: int | None = None, agent: str | None = None) -> TaskContext:
    """What an agent would be shown of the commit that the user stands on."""
    project = Project.find(roadmap)
    settings = load(project.roadmap.parent, {"agent": agent})
    plan = planned(read_bytes(project.roadmap), manner_of(settings, project.roadmap), planning_of(settings))
    job = next((one for one in plan.tasks if one.id.lower() == task.lower()), None)
    if job is None:
        raise TaskUnknown(f"there is no task {task!r} in the roadmap", "milepost plan lists the tasks")
    who = agent or agent_name(job, settings.run.agent) or USUAL
    with Journal.look(project.database) as journal:
        bounds = bounds_of(settings, CallLog(journal.database))
    asked = settings.context.tokens if tokens is None else tokens
    if tokens is not None:
        bounds = replace(bounds, tokens=tokens)
    bounded = "half of model.window_tokens" if bounds.tokens < asked else ""
    if bounds_for(who, bounds).tokens < bounds.tokens:
        bounded = "programs look around themselves"
    commit = project.repository.position().commit
    redact = Redactor(known_secrets(settings))
    context, rules = _made(project, job, who, commit, bounds, redact)
    return TaskContext(
        task=job.id,
        title=job.title,
        agent=redact(who),
        commit=commit,
        context=context,
        bounded=bounded,
        rules=() if settings.of_agent(who).clean else rules,
    )


def _made(
    project: Project, task: Task, agent: str, commit: str, bounds: ContextBounds, redact: Redactor
) -> tuple[Context, tuple[tuple[str, str], ...]]:
    state = project.state if project.state.is_dir() else None
    with TemporaryDirectory(prefix="milepost-") as own, closing(TagCache(state)) as cache:
        git = project.repository.git(Path(own, "git"))
        folder = project.repository.top
        if not project.repository.is_clean():
            folder = Checkouts(Path(own, "checkouts"), git).make("context", commit).folder
        view = ContextView(
            task=task,
            agent=agent,
            tree=commit,
            base=commit,
            since=commit,
            roadmap=project.roadmap_in_tree,
            folder=folder,
            bounds=bounds,
        )
        contexts = Contexts(git, cache, redact)
        return contexts.of(view), contexts.rules(view)


def assignment_now(roadmap: Path | None, task: str) -> str:
    """The prompt for a task of the commit that the user stands on."""
    shown = context_now(roadmap, task)
    project = Project.find(roadmap)
    settings = load(project.roadmap.parent)
    plan = planned(read_bytes(project.roadmap), manner_of(settings, project.roadmap), planning_of(settings))
    job = next(one for one in plan.tasks if one.id == shown.task)
    asked = Assignment(
        run="",
        task=job.id,
        title=job.title,
        text=job.text,
        attempt=1,
        files=job.files,
        verify=job.verify,
        inputs=job.inputs,
        rules=shown.rules,
        context=shown.context.text,
    )
    return Redactor(known_secrets(settings))(prompt_for(asked))
