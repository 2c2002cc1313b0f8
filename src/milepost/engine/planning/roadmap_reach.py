"""What a roadmap asks for that a person must agree to: agents with paths outside, and gates taken away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from milepost.agents.outside_names import reaches_outside
from milepost.core.errors import SettingsNotAgreed
from milepost.core.task import Task
from milepost.engine.project import consent
from milepost.engine.project.settings.load import ADVICE
from milepost.engine.project.settings.reach import AGENT_NAMES, Reaching

APPROVE_NEVER = Reaching(
    path=("Approve",), value="never", does="has nobody asked about tasks with this line, whatever --approve says"
)


def reaching_in(tasks: Iterable[Task]) -> list[Reaching]:
    """The lines of a roadmap that reach beyond the repository or weaken what its user asked for, each once."""
    parts = [part for task in tasks for part in task.walk()]
    names = dict.fromkeys(part.agent for part in parts if reaches_outside(part.agent))
    found = [agent_line(name) for name in names]
    return [*found, APPROVE_NEVER] if any(part.approve == "never" for part in parts) else found


def agent_line(name: str) -> Reaching:
    """An agent that a roadmap names, as what a person is asked about."""
    return Reaching(path=("Agent", name), value=name, does=AGENT_NAMES.does)


def require_agreed(roadmap: Path, tasks: Iterable[Task], approve: str) -> None:
    """Raise where a roadmap reaches further than anybody agreed to; a run that asks nobody has no gates to lose."""
    wanted = reaching_in(tasks)
    missing = [one for one in consent.missing(roadmap, wanted) if one != APPROVE_NEVER or approve != "never"]
    if missing:
        lines = ", ".join(f"{one.path[0]}: {one.value}" for one in missing)
        raise SettingsNotAgreed(
            f"{roadmap.name} has lines that nobody agreed to on this machine: {lines}",
            ADVICE,
            question=consent.question(roadmap, wanted),
        )
