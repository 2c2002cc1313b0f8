"""Where lessons come from and what grew from them, so that a poisoned one is removed with all its offspring."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from milepost.core.memories import LessonStanding
from milepost.memory.transfer.imported_names import IMPORT

SHORTEST_COMMIT = 7


def of_source(standings: Iterable[LessonStanding], source: str) -> tuple[LessonStanding, ...]:
    """The lessons whose text was taken from a commit, a path or an episode."""
    return tuple(one for one in standings if _is_from(one, source))


def offspring(
    standings: Collection[LessonStanding],
    lessons: Iterable[str],
    told: Callable[[str], Iterable[str]],
    episodes: Iterable[str] = (),
) -> tuple[LessonStanding, ...]:
    """The lessons that were learnt only from these episodes, or from attempts that were told these lessons.

    Those that were told what grew from them count, too. `told` gives the attempts that a lesson was shown to.
    """
    ancestors = list(lessons)
    seen, tainted = set(ancestors), set(episodes)
    found: list[LessonStanding] = []
    while True:
        for name in ancestors:
            tainted.update(told(name))
        grown = [one for one in standings if one.lesson.id not in seen and _only_from(one, tainted)]
        if not grown:
            return tuple(found)
        found += grown
        ancestors = [one.lesson.id for one in grown]
        seen.update(ancestors)


def is_commit(told: str, source: str) -> bool:
    """Whether both name one commit, one of them maybe shortened."""
    shorter, longer = sorted((told, source), key=len)
    return len(shorter) >= SHORTEST_COMMIT and longer.startswith(shorter)


def _only_from(standing: LessonStanding, episodes: Collection[str]) -> bool:
    return bool(standing.sources) and all(one in episodes for one in standing.sources)


def _is_from(standing: LessonStanding, source: str) -> bool:
    """Whether a source is where a lesson's text is from, which is told as a commit, a path or test, or both."""
    written = source.encode("ascii", "backslashreplace").decode("ascii")  # as `source_of` has it
    told = standing.lesson.source.removeprefix(IMPORT).strip()
    commit, _, path = told.partition(" ")
    names = (told, commit, path, told.partition("::")[0], path.partition("::")[0])
    return bool(source) and (written in names or is_commit(commit, source))
