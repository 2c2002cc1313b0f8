"""A manuscript: a roadmap before it is written, with its phases, their sections, and the tasks in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from milepost.core.task import Priority, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSection:
    """Tasks below one heading; without a title they stand right below the phase."""

    title: str = ""
    tasks: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Sections below one heading, which is `name` as it is to be read; tasks without a priority have that of it."""

    name: str
    goal: str = ""
    priority: Priority = ""
    sections: tuple[DraftSection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manuscript:
    """A roadmap to be written. `origins` are where tasks come from, by their ids: a file and a line.

    What a task says of its own phase and section does not count: it has those of its place.
    """

    title: str
    intro: str = ""
    phases: tuple[Phase, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks as a reader is to find them, but for their lines."""
        places = ((phase, section) for phase in self.phases for section in phase.sections)
        return tuple(_placed(task, phase, section) for phase, section in places for task in section.tasks)


def _placed(task: Task, phase: Phase, section: DraftSection) -> Task:
    below = tuple(_placed(subtask, replace(phase, priority=""), section) for subtask in task.subtasks)
    needs = dict.fromkeys((*task.needs, *(label for subtask in below for label in subtask.needs)))
    return replace(
        task,
        phase=phase.name,
        section=section.title,
        priority=task.priority or phase.priority,
        subtasks=below,
        needs=tuple(needs),
    )
