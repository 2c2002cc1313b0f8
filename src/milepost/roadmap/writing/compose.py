"""A roadmap that a model or a template proposes, as one to be written: numbered, tamed, as detailed as is wanted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Literal

from milepost.core.task import Task
from milepost.roadmap.prose.answers import MOST_TASKS, NewPhase, NewRoadmap, NewTask
from milepost.roadmap.reading.cycles import without_circles
from milepost.roadmap.writing.draft_roadmap import DraftSection, Manuscript, Phase
from milepost.roadmap.writing.safe_words import tame_heading, tame_line, tame_name, tamed, with_priorities

Style = Literal["minimal", "standard", "detailed"]

_NUMBER = re.compile(r"^(?:phase\s+)?\d+\s*[:.)–—-]\s*", re.IGNORECASE)


def objections(given: NewRoadmap) -> tuple[str, ...]:
    """What of a proposal cannot be, in words for whoever made it."""
    return _resolved(given)[1]


def manuscript_of(given: NewRoadmap, style: Style) -> tuple[Manuscript, tuple[str, ...]]:
    """The roadmap to be written, and what of the proposal was left out."""
    waits, wrong = _resolved(given)
    ids = dict(enumerate(_ids(given)))
    place = 0
    phases = []
    for number, phase in enumerate(given.phases, start=1):
        sections = []
        for section in phase.sections:
            tasks = []
            for task in section.tasks:
                after = tuple(ids[other] for other in waits[place])
                tasks.append(styled(_task(task, ids[place], after), style))
                place += 1
            sections.append(DraftSection(title=tame_heading(section.title, ""), tasks=tuple(tasks)))
        phases.append(_phase(number, phase, sections))
    return with_priorities(Manuscript(title=tame_name(given.title), phases=tuple(phases))), wrong


def styled(task: Task, style: Style) -> Task:
    """The task in the detail that is wanted: minimal without text and subtasks, standard without subtasks."""
    return replace(
        task,
        text="" if style == "minimal" else task.text,
        subtasks=task.subtasks if style == "detailed" else (),
    )


def _phase(number: int, phase: NewPhase, sections: list[DraftSection]) -> Phase:
    name = tame_heading(_NUMBER.sub("", phase.name), "More")
    # Tasks without a section cannot stand below one.
    named = [replace(one, title=one.title or ("More" if at else "")) for at, one in enumerate(sections)]
    return Phase(name=f"Phase {number}: {name}", goal=tame_line(phase.goal), sections=tuple(named))


def _task(task: NewTask, task_id: str, after: tuple[str, ...]) -> Task:
    subtasks = tuple(
        Task(id=f"{task_id}.{number}", title=title, status="open", line=0)
        for number, title in enumerate(task.subtasks, start=1)
    )
    return tamed(
        Task(
            id=task_id,
            title=task.title,
            status="open",
            line=0,
            text=task.text,
            files=tuple(dict.fromkeys(path for path in task.files if _is_inside(path))),
            verify=tuple(dict.fromkeys(task.verify)),
            depends_on=after,
            subtasks=subtasks,
        )
    )


def _ids(given: NewRoadmap) -> list[str]:
    return [
        f"{number}.{place}"
        for number, phase in enumerate(given.phases, start=1)
        for place in range(1, sum(len(section.tasks) for section in phase.sections) + 1)
    ]


def _resolved(given: NewRoadmap) -> tuple[Mapping[int, Sequence[int]], tuple[str, ...]]:
    """Which tasks each one waits for, by their places, and what cannot be."""
    tasks, ids = list(given.tasks()), _ids(given)
    names = {_folded(task.title): place for place, task in reversed(list(enumerate(tasks)))}
    names |= {name: place for place, name in enumerate(ids)}
    wrong = [f"there are {len(tasks)} tasks, but at most {MOST_TASKS} are allowed"] if len(tasks) > MOST_TASKS else []
    waits: dict[int, tuple[int, ...]] = {}
    for place, task in enumerate(tasks):
        found = {reference: names.get(_folded(reference)) for reference in task.depends_on}
        outside = [path for path in task.files if not _is_inside(path)]
        unknown = [reference for reference in found if found[reference] is None]
        wrong += [f"{task.title!r} depends on {one!r:.80}, but no task has this title" for one in unknown]
        wrong += [f"{task.title!r} names the file {path!r:.80}, which is not inside the project" for path in outside]
        waits[place] = tuple(dict.fromkeys(other for other in found.values() if other is not None))
    kept, circles = without_circles(waits)
    wrong += [
        f"these tasks wait for each other: {' → '.join(tasks[at].title for at in circle.path)}" for circle in circles
    ]
    return kept, tuple(wrong)


def _is_inside(path: str) -> bool:
    given = PurePosixPath(path)
    return not given.is_absolute() and ".." not in given.parts and "\\" not in path and path not in (".", "~")


def _folded(title: str) -> str:
    return " ".join(title.casefold().split())
