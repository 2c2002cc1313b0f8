"""Where lessons come from and what grew from them, so that a poisoned one is removed with all its offspring."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from milepost.core.memories import LessonStanding


def of_source(standings: Iterable[LessonStanding], source: str) -> tuple[LessonStanding, ...]:
    """The lessons whose text was taken from a commit, a path or an episode."""
    return tuple(one for one in standings if _is_from(one, source))


def offspring(
    standings: Collection[LessonStanding], lessons: Iterable[str], told: Callable[[str], Iterable[str]]
) -> tuple[LessonStanding, ...]:
    """The lessons that were learnt only from attempts that were told these, or told what grew from them.

    `told` gives the attempts that a lesson was shown to.
    """
    ancestors = list(lessons)
    tainted: set[str] = set()
    found: dict[str, LessonStanding] = {}
    seen = set(ancestors)
    while ancestors:
        tainted.update(told(ancestors.pop()))
        for one in standings:
            if one.lesson.id not in seen and one.sources and tainted.issuperset(one.sources):
                seen.add(one.lesson.id)
                ancestors.append(one.lesson.id)
                found[one.lesson.id] = one
    return tuple(found.values())


def _is_from(standing: LessonStanding, source: str) -> bool:
    told = standing.lesson.source.split(" ", 1)
    return bool(source) and (source in told or source in standing.sources or _is_commit(told[0], source))


def _is_commit(told: str, source: str) -> bool:
    """Whether both name one commit, one of them maybe shortened."""
    shorter, longer = sorted((told, source), key=len)
    return len(shorter) >= 7 and longer.startswith(shorter)
