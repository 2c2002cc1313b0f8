"""The catalogue of a memory: what is in it, counted and listed. Changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from milepost.core.errors import EpisodeUnknown, LessonUnknown
from milepost.core.memories import Arm, Effect, Episode, EpisodeStart, Lesson, LessonState
from milepost.memory.lessons.lift import Lift, Stratum
from milepost.memory.store.as_json import load
from milepost.memory.store.columns import EndedEpisode
from milepost.memory.store.rows import Rows
from milepost.memory.transfer.forgotten_rows import ForgottenKind

_COUNTS = """
    select starts.project, coalesce(ends.kind, 'open'), count(*) from memory_episodes as starts
    left join memory_endings as ends on ends.episode = starts.id group by 1, 2
"""

_NEWEST = """
    select starts.body, ends.body from memory_episodes as starts
    left join memory_endings as ends on ends.episode = starts.id
    where (? = '' or starts.project = ?) and (? = '' or coalesce(ends.kind, 'open') = ?)
    order by starts.at desc, starts.rowid desc limit ?
"""

# An attempt counts as told when it was told anything, and as held out of where all that fitted it was held out. Where
# more fits, all of it is held out more rarely, and projects hold out as much as they like: so like is put with like.
_ARMS = """
    select told.project, told.fitted, told.verdict, told.shown, count(*) from (
        select ends.episode, ends.project, ends.verdict, count(*) as fitted,
            max(case when showings.arm = 'shown' then 1 else 0 end) as shown
        from memory_showings as showings join memory_endings as ends on ends.episode = showings.episode
        where ends.verdict in ('passed', 'failed') and ends.judged = 1 and (? = '' or ends.project = ?)
        group by ends.episode, ends.project, ends.verdict
    ) as told group by told.project, told.fitted, told.verdict, told.shown
"""

_TOLD = """
    select showings.episode, showings.arm, coalesce(ends.verdict, ''), coalesce(votes.effect, '')
    from memory_showings as showings left join memory_endings as ends on ends.episode = showings.episode
    left join memory_votes as votes on votes.lesson = showings.lesson and votes.episode = showings.episode
    where showings.lesson = ? order by showings.rowid
"""

FEWEST_SIGNS = 4  # of an id, where it is not given whole
MOST_NAMED = 5  # ids that are told when a prefix fits several


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A lesson's way into a state, and why."""

    state: LessonState
    why: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An attempt that a lesson fitted: whether it was shown, how the attempt ended, what the lesson did for it."""

    episode: str
    arm: Arm
    verdict: str
    effect: Effect | None


class Catalogue:
    """Reads the rows of a memory as people look at them."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def episode_counts(self) -> Mapping[tuple[str, str], int]:
        """How many episodes there are, by project and how they ended; `open` are those that did not."""
        return {(project, kind): count for project, kind, count in self._rows.read(_COUNTS)}

    def episodes(self, *, project: str = "", outcome: str = "", most: int = 20) -> tuple[Episode, ...]:
        """The newest episodes, the newest first, without their steps."""
        return tuple(
            _episode(start, end) for start, end in self._rows.read(_NEWEST, project, project, outcome, outcome, most)
        )

    def episode_named(self, prefix: str) -> str:
        """The id of the only episode whose id begins so."""
        found = self._beginning("memory_episodes", prefix)
        if len(found) != 1 or _is_short(prefix, found):
            raise EpisodeUnknown(*_not_one("episode", prefix, found))
        return found[0]

    def lesson_named(self, prefix: str) -> str:
        """The id of the only lesson whose id begins so."""
        found = self._beginning("memory_lessons", prefix)
        if len(found) != 1 or _is_short(prefix, found):
            raise LessonUnknown(*_not_one("lesson", prefix, found))
        return found[0]

    def named(self, prefix: str) -> tuple[ForgottenKind, str]:
        """The only lesson or episode whose id is this, or else begins so."""
        found: list[tuple[ForgottenKind, str]] = [
            *(("lesson", name) for name in self._beginning("memory_lessons", prefix)),
            *(("episode", name) for name in self._beginning("memory_episodes", prefix)),
        ]
        found = [one for one in found if one[1] == prefix] or found
        names = [name for _, name in found]
        if not found:
            raise EpisodeUnknown(f"there is no lesson and no episode {prefix!r}", "list them: milepost memory list")
        if len(found) > 1 or _is_short(prefix, names):
            raise EpisodeUnknown(*_not_one("lesson or episode", prefix, [f"{kind} {name}" for kind, name in found]))
        return found[0]

    def projects(self) -> frozenset[str]:
        """All projects that something is remembered of."""
        found = self._rows.read("select project from memory_episodes union select project from memory_lessons")
        return frozenset(name for (name,) in found)

    def outline(self, kind: ForgottenKind, name: str) -> tuple[str, str]:
        """The project of a lesson or an episode, and the first line of what it says."""
        table = "memory_lessons" if kind == "lesson" else "memory_episodes"
        for project, body in self._rows.read(f"select project, body from {table} where id = ?", name):  # noqa: S608
            text = _said(load(Lesson, body)) if kind == "lesson" else load(EpisodeStart, body).title
            return project, next(iter(text.strip().splitlines()), "")
        return "", ""

    def moves(self, lesson: str) -> tuple[Move, ...]:
        """The states of a lesson, oldest first."""
        sql = "select state, why, at from memory_states where lesson = ? order by at, number"
        return tuple(Move(state=state, why=why, at=at) for state, why, at in self._rows.read(sql, lesson))

    def told(self, lesson: str) -> tuple[Told, ...]:
        """The attempts that a lesson fitted, oldest first."""
        return tuple(
            Told(episode=episode, arm=arm, verdict=verdict, effect=effect or None)
            for episode, arm, verdict, effect in self._rows.read(_TOLD, lesson)
        )

    def lift(self, project: str = "") -> Lift:
        """How judged attempts fared that were told something, against those that all of it was held out of.

        Compared are attempts of one project that as many lessons fitted: among those it was chance who was told.
        """
        strata: dict[tuple[str, int], Counter[tuple[int, str]]] = {}
        for name, fitted, verdict, shown, count in self._rows.read(_ARMS, project, project):
            strata.setdefault((name, fitted), Counter())[shown, verdict] += count
        return Lift.over(
            Stratum(shown=(found[1, "passed"], found[1, "failed"]), held_out=(found[0, "passed"], found[0, "failed"]))
            for _, found in sorted(strata.items())
        )

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return int(self._rows.read(f"select count(*) from {table}")[0][0])  # noqa: S608 - our names

    def _beginning(self, table: str, prefix: str) -> list[str]:
        if not prefix:
            return []
        sql = f"select id from {table} where substr(id, 1, ?) = ? order by id limit ?"  # noqa: S608 - our names
        found = [name for (name,) in self._rows.read(sql, len(prefix), prefix, MOST_NAMED + 1)]
        return [prefix] if prefix in found else found


def _episode(start: str, end: str | None) -> Episode:
    whole = Episode(start=load(EpisodeStart, start))
    if end is None:
        return whole
    ended = load(EndedEpisode, end)
    return replace(whole, end=ended.end, assessment=ended.assessment)


def _said(lesson: Lesson) -> str:
    return lesson.text or lesson.subject


def _is_short(prefix: str, found: list[str]) -> bool:
    """Whether it is by chance rather than meant that an id begins so."""
    return len(prefix) < FEWEST_SIGNS and prefix not in found


def _not_one(what: str, prefix: str, found: list[str]) -> tuple[str, str]:
    if not found:
        return f"there is no {what} {prefix!r}", f"list them: milepost memory list --{what}s"
    if len(found) == 1:
        return f"{prefix!r} is too short", f"give at least {FEWEST_SIGNS} characters of the id of the {what}"
    more = " …" if len(found) > MOST_NAMED else ""
    return f"several {what}s begin with {prefix!r}", f"give more of it: {', '.join(found[:MOST_NAMED])}{more}"
