"""Looking at a memory and correcting it: recall, search, list, count, patterns, quarantine, activate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from milepost.core.errors import EpisodeUnknown, LessonUnknown, Misuse
from milepost.core.memories import EndKind, Episode, LessonStanding, LessonState, Pattern, Query
from milepost.engine.memory.memory_handle import OpenedMemory
from milepost.engine.memory.sync import unsynced
from milepost.engine.memory.task_kind import language_among
from milepost.engine.memory.values import LessonStory, MemoryStats, Recollection
from milepost.engine.project.memory_mode import require_writing, why_silent
from milepost.memory.assessment.patterns import fitting, merged
from milepost.memory.lessons.suspicious_lessons import doctor_findings, objection
from milepost.memory.recall.search import Found
from milepost.memory.recall.words import USUAL, words_of


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


LONGEST_WHY = 500


def moved(opened: OpenedMemory, lesson: str, state: LessonState, why: str) -> LessonStanding:
    """A lesson in a state that a person put it in, for a reason."""
    require_writing(opened.home.memory.mode, correcting=True)
    if not why.strip():
        raise Misuse("changing a lesson's state needs a reason", "add one: --why TEXT")
    name = opened.catalogue.lesson_named(lesson)
    opened.stored.lessons.move(name, state, why.strip()[:LONGEST_WHY], by_hand=True)
    return lesson_story(opened, name).standing


def activated(opened: OpenedMemory, lesson: str, why: str) -> LessonStanding:
    """A lesson that is shown from now on; complains of one that nobody may be shown, whoever asks for it."""
    found = lesson_story(opened, lesson)
    if against := objection(found.lesson):
        raise Misuse(f"lesson {found.lesson.id} cannot be activated: it {against}", "milepost memory forget deletes it")
    if not found.sources:
        raise Misuse(
            f"lesson {found.lesson.id} cannot be activated: no episode here supports it",
            "a verified attempt must teach it first, or import it with --trust",
        )
    return moved(opened, lesson, "active", why)


MOST_COUNTED = 5_000  # episodes whose patterns are counted together
MOST_ALIKE = 50  # episodes whose patterns fit a task


def all_patterns(opened: OpenedMemory) -> tuple[Pattern, ...]:
    """The patterns of the project's episodes, counted together."""
    ended = opened.stored.journal.ended(project=opened.project, most=MOST_COUNTED)
    return merged(pattern for one in ended if one.assessment is not None for pattern in one.assessment.patterns)


def fitting_patterns(opened: OpenedMemory, text: str, files: Sequence[str], error: str) -> Iterator[Pattern]:
    """Those of episodes that were about the same things, or had the same error."""
    subject = " ".join(word for word in words_of(text, *files) if word not in USUAL)
    alike = list(searched(opened, subject, MOST_ALIKE)) if subject else []
    if error.strip():
        alike += [one for one in searched(opened, error, MOST_ALIKE) if one.why.startswith("the same error")]
    episodes = {one.id for one in alike if one.kind == "episode" and one.project == opened.project}
    return fitting(all_patterns(opened), episodes, language_among(files))
