"""Learning: what a verified task teaches is kept, what lessons did for an attempt is counted. All harmless twice.

The episodes have to be recorded before: what the journal does not know as verified teaches nothing and counts nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from milepost.core.memories import Lesson, LessonStanding, Vote
from milepost.memory.lessons import policy
from milepost.memory.lessons.distil import distil, grown_from, refused
from milepost.memory.lessons.distil.changed_names import removed_names
from milepost.memory.lessons.distil.wording import code_in
from milepost.memory.lessons.experience import Experience, FileChange, VerifiedAttempt
from milepost.memory.lessons.suspicious_lessons import objection
from milepost.memory.memory import StoredMemory

NEWEST = 200  # episodes that say how often attempts of a project pass


def learn(memory: StoredMemory, experience: Experience, chosen: Iterable[Lesson] = ()) -> tuple[Lesson, ...]:
    """Keep what a task teaches, or what supports it where it is known; gives the lessons that it taught.

    `chosen` are lessons of the same task whose lines a model chose.
    """
    verified = replace(experience, tries=tuple(one for one in experience.tries if _is_verified(memory, one)))
    if not verified.tries:
        return ()
    told = _told(memory, verified)
    learnt = [_or_told(lesson, told) for lesson in (*distil(verified), *chosen) if not objection(lesson)]
    for lesson in learnt:
        memory.lessons.keep(lesson, grown_from(lesson, verified))
    for lesson in refused(verified):
        memory.lessons.keep(lesson, (), state="quarantined")
    _withdraw_gone(memory, verified, {lesson.id for lesson in learnt})
    review(memory, verified.project)
    return tuple({lesson.id: lesson for lesson in learnt}.values())


def settle(
    memory: StoredMemory, episode: str, changes: Iterable[FileChange], passed: bool, errors: Iterable[str] = ()
) -> None:
    """Count what the lessons did that a verified attempt was shown, and move those whose standing it changed.

    `errors` are the texts of what it failed with.
    """
    ended = memory.journal.episode(episode)
    if ended is None or not ended.judged or ended.passed != passed:
        return
    changed, failed_with = tuple(changes), tuple(errors)
    arms = {one.lesson: one.arm for one in memory.lessons.shown_to(episode)}
    fitting = [one.lesson for one in memory.lessons.standings(lessons=arms)]
    memory.lessons.vote(
        Vote(lesson=lesson.id, episode=episode, effect=policy.vote_for(lesson, passed, changed, failed_with))
        for lesson in fitting
        if arms[lesson.id] == "shown"
    )
    for project in sorted({ended.start.project, *(lesson.project for lesson in fitting)}):
        review(memory, project)


def review(memory: StoredMemory, project: str) -> None:
    """Have each lesson of a project in the state that all rows about it say.

    It is done after learning, an import and a sync by hand. What comes by the background of a run waits for the next of
    these.
    """
    shown_in = memory.lessons.shown_in(project=project)
    rates = {name: passing_rate(memory, name) for name in {project}.union(*shown_in.values())}
    for standing in memory.lessons.standings(project=project):
        where = shown_in.get(standing.lesson.id, {project: 1})
        base_rate = sum(rates[name] * count for name, count in where.items()) / sum(where.values())
        if move := policy.next_state(standing, base_rate):
            memory.lessons.move(standing.lesson.id, *move)
    for lesson, stays in policy.contradictions(memory.lessons.standings(project=project)):
        memory.lessons.move(lesson, "quarantined", f"{policy.CONTRADICTED} by {stays}, which was verified later")


def review_all(memory: StoredMemory) -> None:
    """Do so for all projects that have lessons here."""
    for project in sorted({standing.lesson.project for standing in memory.lessons.standings()}):
        review(memory, project)


def withdraw(memory: StoredMemory, standings: Iterable[LessonStanding], why: str = policy.UNDONE) -> None:
    """Take lessons out of use until something verified supports them again."""
    for standing in standings:
        if standing.state in ("candidate", "active"):
            memory.lessons.move(standing.lesson.id, "quarantined", why)


def passing_rate(memory: StoredMemory, project: str) -> float:
    """The share of a project's newest judged attempts that passed; a half where none is known."""
    judged = [one.passed for one in memory.journal.ended(project=project, most=NEWEST) if one.judged]
    return (1 + sum(judged)) / (2 + len(judged))


def _is_verified(memory: StoredMemory, tried: VerifiedAttempt) -> bool:
    episode = memory.journal.episode(tried.episode)
    return episode is not None and episode.verified and episode.passed == tried.passed


def _told(memory: StoredMemory, experience: Experience) -> tuple[Lesson, ...]:
    """The lessons that attempts of a task were shown."""
    shown = {
        one.lesson for tried in experience.tries for one in memory.lessons.shown_to(tried.episode) if one.arm == "shown"
    }
    return tuple(one.lesson for one in memory.lessons.standings() if one.lesson.id in shown) if shown else ()


def _or_told(lesson: Lesson, told: Iterable[Lesson]) -> Lesson:
    """A lesson, or the one that an attempt had its code from: what memory said is not learnt from memory again."""
    lines = _lines(lesson)
    return next((one for one in told if lines and one.id != lesson.id and lines <= _lines(one)), lesson)


def _lines(lesson: Lesson) -> set[str]:
    return {line.strip() for line in code_in(lesson.text).splitlines() if line.strip()}


def _withdraw_gone(memory: StoredMemory, experience: Experience, learnt: Collection[str]) -> None:
    accepted = experience.accepted
    removed = removed_names(accepted.changes) if accepted else frozenset()
    for standing in memory.lessons.standings(project=experience.project) if removed else ():
        lesson = standing.lesson
        # What was verified after this task is not undone by a replay of it.
        is_older = lesson.id not in learnt and standing.supported_at <= experience.at
        if is_older and lesson.symbols and removed.issuperset(lesson.symbols):
            withdraw(memory, [standing], f"{policy.GONE}: what it is about was removed")
