"""What an agent would be asked for a task now: the prompt of its first attempt. Changes nothing."""

from __future__ import annotations

from pathlib import Path

from milepost.agents.prompt import prompt_for
from milepost.core.attempt import Assignment
from milepost.core.secrets.redact import Redactor
from milepost.engine.commands.show_context import context_now
from milepost.engine.planning.make_plan import manner_of, planned, planning_of
from milepost.engine.project.project import Project, read_bytes
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.settings.load import load


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
        context=shown.context.text,
    )
    return Redactor(known_secrets(settings))(prompt_for(asked))
