"""The book of lessons: what was learnt, what it grew from, how it stands, whom it was shown to and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from milepost.core.memories import BY_HAND, Lesson, LessonStanding, LessonState, Showing, Vote
from milepost.memory.store.as_json import dump, load
from milepost.memory.store.columns import of_lesson
from milepost.memory.store.rows import Rows, Values
from milepost.memory.store.sanitise import SHAPES, Redact, Sanitiser
from milepost.store.rows import Row

_LESSONS = """
    select told.body from (select rowid, id as lesson, body from memory_lessons) as told
    where {chosen} order by told.rowid
"""
# The last of a lesson's states stands: what a person said before all else, then the newest. That it was learnt, which
# each machine notes for itself, says less than what was found out about it since.
STANDING_LAST = f"""
    case when substr(why, 1, {len(BY_HAND)}) = '{BY_HAND}' then 1 else 0 end,
    case when number > 1 then 1 else 0 end, at, number, digest
"""
_STATES = f"""
    select told.lesson, told.state, told.why, told.at from memory_states as told
    where {{chosen}} order by {STANDING_LAST}
"""  # noqa: S608 - our words
_SHOWN = """
    select told.lesson, told.arm, ends.verdict, count(*) from memory_showings as told
    join memory_endings as ends on ends.episode = told.episode
    where ends.judged = 1 and {chosen} group by told.lesson, told.arm, ends.verdict
"""
# In which projects each lesson was shown, and to how many attempts.
_SHOWN_IN = """
    select told.lesson, ends.project, count(*) from memory_showings as told
    join memory_endings as ends on ends.episode = told.episode
    where told.arm = 'shown' and ends.verdict in ('passed', 'failed') and ends.judged = 1 and {chosen}
    group by told.lesson, ends.project
"""
_VOTES = """
    select told.lesson, told.effect, count(*) from memory_votes as told
    where {chosen} group by told.lesson, told.effect
"""
_MOST_NAMES = 500  # as many as a statement may have values, on any of the databases

# Each support of a lesson: when it came, and whether the lesson had told that attempt.
_SUPPORTS = """
    select told.lesson, told.episode, told.at, case when showings.arm = 'shown' then 1 else 0 end
    from memory_supports as told
    left join memory_showings as showings on showings.lesson = told.lesson and showings.episode = told.episode
    where {chosen} order by told.rowid
"""

# How often each lesson was shown to a verified attempt since one in which it had an effect.
_UNUSED = """
    select told.lesson, count(*) from memory_votes as told
    where told.effect = 'none' and told.rowid > coalesce((
        select max(used.rowid) from memory_votes as used where used.lesson = told.lesson and used.effect <> 'none'
    ), 0) and {chosen} group by told.lesson
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Which:
    """Which lessons a question is about: all, those of a project, some by their ids."""

    project: str
    names: list[str] | None

    @property
    def condition(self) -> str:
        asked = ["told.lesson in (select id from memory_lessons where project = ?)"] if self.project else []
        if self.names is not None:
            asked.append(f"told.lesson in ({', '.join('?' * len(self.names))})" if self.names else "1 = 0")
        return " and ".join(asked) or "1 = 1"

    @property
    def values(self) -> tuple[str, ...]:
        return (*([self.project] if self.project else []), *(self.names or ()))


class LessonBook:
    """Keeps lessons, without secrets; each call is on disk when it returns, and harmless when repeated."""

    def __init__(self, rows: Rows, now: Callable[[], float] = time.time, *, redact: Redact = SHAPES) -> None:
        self._rows = rows
        self._now = now
        self._fitting = Sanitiser(redact)

    def keep(self, lesson: Lesson, sources: Iterable[str], *, state: LessonState = "candidate") -> None:
        """Keep a lesson with the episodes that it grew from; one that is known gains what supports it further."""
        fit, episodes = self._fitting.lesson(lesson), tuple(sources)
        self._rows.together(lambda: self._keep(fit, episodes, state))

    def move(self, lesson: str, state: LessonState, why: str, *, by_hand: bool = False) -> None:
        """Have a lesson in another state from now on; in one that a person put it into it stays, but `by_hand`."""
        said = self._fitting.line(f"{BY_HAND}{why}" if by_hand else why)
        self._rows.together(lambda: self._move(lesson, state, said))

    def show(self, showings: Iterable[Showing]) -> None:
        """Note what an attempt was told, and what was held out of it."""
        rows: list[Values] = [{"lesson": one.lesson, "episode": one.episode, "arm": one.arm} for one in showings]
        self._add_all("memory_showings", rows)

    def vote(self, votes: Iterable[Vote]) -> None:
        """Note what lessons did for an attempt."""
        rows: list[Values] = [{"lesson": one.lesson, "episode": one.episode, "effect": one.effect} for one in votes]
        self._add_all("memory_votes", rows)

    def shown_to(self, episode: str) -> tuple[Showing, ...]:
        """What an attempt was told, and what was held out of it, in the order in which it was."""
        sql = "select lesson, episode, arm from memory_showings where episode = ? order by rowid"
        return tuple(
            Showing(lesson=lesson, episode=name, arm=arm) for lesson, name, arm in self._rows.read(sql, episode)
        )

    def told(self, lesson: str) -> tuple[str, ...]:
        """The attempts that a lesson was shown to."""
        sql = "select episode from memory_showings where lesson = ? and arm = 'shown' order by rowid"
        return tuple(episode for (episode,) in self._rows.read(sql, lesson))

    def shown_in(self, *, project: str) -> dict[str, dict[str, int]]:
        """Of each lesson of a project that was shown: in which projects, to how many attempts that were verified."""
        found: dict[str, dict[str, int]] = {}
        for lesson, where, count in self._about(_SHOWN_IN, _Which(project=project, names=None)):
            found.setdefault(lesson, {})[where] = count
        return found

    def standings(self, *, project: str = "", lessons: Collection[str] | None = None) -> tuple[LessonStanding, ...]:
        """Lessons as they stand, oldest first: all, those of a project, or some by their ids."""
        names = None if lessons is None else sorted(set(lessons))
        if names is not None and len(names) > _MOST_NAMES:
            chosen = frozenset(names)
            return tuple(one for one in self.standings(project=project) if one.lesson.id in chosen)
        which = _Which(project=project, names=names)
        found = [load(Lesson, body) for (body,) in self._about(_LESSONS, which)]
        states = {lesson: (state, why, at) for lesson, state, why, at in self._about(_STATES, which)}
        supports: dict[str, list[Row]] = {}
        for name, *support in self._about(_SUPPORTS, which):
            supports.setdefault(name, []).append(tuple(support))
        came = {(lesson, arm, verdict): count for lesson, arm, verdict, count in self._about(_SHOWN, which)}
        votes = {(lesson, effect): count for lesson, effect, count in self._about(_VOTES, which)}
        unused: dict[str, int] = dict(self._about(_UNUSED, which))

        def standing(lesson: Lesson) -> LessonStanding:
            state, why, moved_at = states.get(lesson.id, ("candidate", "", 0.0))
            own = supports.get(lesson.id, ())
            return LessonStanding(
                lesson=lesson,
                state=state,
                why=why,
                sources=tuple(episode for episode, *_ in own),
                shown=(came.get((lesson.id, "shown", "passed"), 0), came.get((lesson.id, "shown", "failed"), 0)),
                held_out=(
                    came.get((lesson.id, "held_out", "passed"), 0),
                    came.get((lesson.id, "held_out", "failed"), 0),
                ),
                helped=votes.get((lesson.id, "helped"), 0),
                harmed=votes.get((lesson.id, "harmed"), 0),
                without_effect=votes.get((lesson.id, "none"), 0),
                opportunities=unused.get(lesson.id, 0),
                independent=sum(not told for _, _, told in own),
                since=sum(at > moved_at for _, at, _ in own),
                supported_at=max((at for _, at, _ in own), default=0.0),
            )

        return tuple(map(standing, found))

    def _about(self, sql: str, which: _Which) -> list[Row]:
        """What a question about all lessons gives for some of them."""
        return self._rows.read(sql.format(chosen=which.condition), *which.values)

    def _add_all(self, table: str, rows: Iterable[Values]) -> None:
        dated = [{**row, "at": self._now()} for row in rows]
        self._rows.together(lambda: [self._rows.add(table, row) for row in dated])

    def _keep(self, lesson: Lesson, sources: tuple[str, ...], state: LessonState) -> None:
        added = self._rows.add("memory_lessons", {**of_lesson(lesson), "body": dump(lesson)})
        for episode in sources:
            self._rows.add("memory_supports", {"lesson": lesson.id, "episode": episode, "at": self._now()})
        if added:
            self._move(lesson.id, state, "learnt")

    def _move(self, lesson: str, state: LessonState, why: str) -> None:
        sql = f"select number, state, why, at from memory_states where lesson = ? order by {STANDING_LAST}"  # noqa: S608
        known = self._rows.read(sql, lesson)
        by_hand = why.startswith(BY_HAND)
        if known and not _changes(known[-1], state, by_hand):
            return
        number = max((number for number, *_ in known), default=0) + 1
        # It comes after all that is known here, also where the clock of another machine is ahead.
        at = max([self._now(), *(at for *_, at in known)])
        row: Values = {"lesson": lesson, "number": number, "state": state, "why": why, "at": at}
        self._rows.add("memory_states", row)


def _changes(standing: Row, state: LessonState, by_hand: bool) -> bool:
    """Whether a move changes how a lesson stands; a person's word is changed only by a person's."""
    _, stood, why, _ = standing
    was_by_hand = why.startswith(BY_HAND)
    return by_hand if by_hand != was_by_hand else stood != state
