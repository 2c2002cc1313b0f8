"""What is in a memory, as people look at it: recalled, searched, listed, told by its name, counted. Changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from milepost.core.errors import EpisodeUnknown, LessonUnknown, Misuse
from milepost.core.memories import EndKind, Episode, LessonStanding, LessonState, Query
from milepost.engine.memory.memory_handle import OpenedMemory
from milepost.engine.memory.sync import unsynced
from milepost.engine.memory.values import LessonStory, MemoryStats, Recollection
from milepost.engine.project.memory_mode import why_silent
from milepost.memory.lessons.suspicious_lessons import doctor_findings
from milepost.memory.recall.search import Found


def recalled(opened: OpenedMemory, text: str, files: Sequence[str], error: str, most: int) -> Recollection:
    """What an attempt would be told, and why it is that; where the memory is off nothing is looked up."""
    mode = opened.home.memory.mode
    silent = why_silent(mode, opened.is_there)
    if mode == "off":
        return Recollection(explanation=silent)
    query = Query(
        project=opened.project,
        text=opened.redact(text),
        files=tuple(files),
        errors=(opened.redact(error),) if error.strip() else (),
    )
    found = opened.recaller.recall(query)
    return Recollection(lines=found.lines[:most], lessons=found.shown[:most], explanation=(*silent, *found.explanation))


def searched(opened: OpenedMemory, text: str, most: int) -> tuple[Found, ...]:
    """What fits a text, of all projects; the words of a secret are not looked for."""
    return opened.recaller.search(opened.redact(text), opened.project, most)


def newest_episodes(opened: OpenedMemory, most: int, outcome: str | None, project: str) -> tuple[Episode, ...]:
    """Episodes of a project, or of all, that ended in one way, or in any."""
    _require_project(opened, project)
    known = (*get_args(EndKind), "open")
    if outcome is not None and outcome not in known:
        raise Misuse(f"{outcome!r} is not an outcome of episodes", f"one of {', '.join(known)}")
    return opened.catalogue.episodes(project=project, outcome=outcome or "", most=most)


def newest_lessons(
    opened: OpenedMemory, most: int, state: LessonState | None, project: str
) -> tuple[LessonStanding, ...]:
    """Lessons of a project, or of all, that are in one state, or in any."""
    _require_project(opened, project)
    if state is not None and state not in get_args(LessonState):
        raise Misuse(f"{state!r} is not a state of lessons", f"one of {', '.join(get_args(LessonState))}")
    standings = opened.stored.lessons.standings(project=project)
    return tuple(one for one in reversed(standings) if state in (None, one.state))[:most]


def whole_episode(opened: OpenedMemory, named: str) -> Episode:
    """An episode as the journal has it, steps and all."""
    found = opened.stored.journal.episode(opened.catalogue.episode_named(named))
    if found is None:
        raise EpisodeUnknown(f"episode {named!r} was forgotten just now", "milepost memory list --episodes")
    return found


def lesson_story(opened: OpenedMemory, named: str) -> LessonStory:
    """The story of a lesson, from its standing and from the attempts that it fitted."""
    name = opened.catalogue.lesson_named(named)
    standing = next((one for one in opened.stored.lessons.standings() if one.lesson.id == name), None)
    if standing is None:
        raise LessonUnknown(f"lesson {named!r} was forgotten just now", "milepost memory list shows the others")
    return LessonStory(
        standing=standing,
        moves=opened.catalogue.moves(name),
        told=opened.catalogue.told(name),
        suspicion="; ".join(one.what for one in doctor_findings([standing])),
    )


def counted(opened: OpenedMemory) -> MemoryStats:
    """All that is counted of a memory, and where it is."""
    home, catalogue = opened.home, opened.catalogue
    episodes, projects = Counter[str](), Counter[str]()
    for (project, kind), count in catalogue.episode_counts().items():
        episodes[kind] += count
        projects[project] += count
    standings = opened.stored.lessons.standings()
    projects.update(dict.fromkeys(catalogue.projects(), 0))
    votes = {"helped": "helped", "harmed": "harmed", "none": "without_effect"}
    return MemoryStats(
        project=opened.project,
        place=home.told,
        is_there=opened.is_there,
        mode=home.memory.mode,
        episodes=dict(episodes),
        projects=dict(projects),
        steps=catalogue.count("memory_steps"),
        lessons=Counter(one.state for one in standings),
        votes={name: sum(getattr(one, field) for one in standings) for name, field in votes.items()},
        lift=catalogue.lift(opened.project),
        holdout=home.memory.holdout,
        unsynced=unsynced(opened),
        size_bytes=home.size_bytes() if opened.is_there else 0,
    )


def _require_project(opened: OpenedMemory, project: str) -> None:
    known = opened.catalogue.projects() | {opened.project}
    if project and project not in known:
        raise Misuse(f"the memory has no project {project!r}", f"one of {', '.join(sorted(known)[:5])}")
