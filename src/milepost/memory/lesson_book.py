"""The book of lessons: what was learnt, what it grew from, how it stands, whom it was shown to and what came of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable

from milepost.core.memories import Lesson, LessonStanding, LessonState, Showing, Vote
from milepost.memory.rows import Rows, Values
from milepost.memory.wire import dump, load
from milepost.store.database import Row

_STATES = """
    select states.lesson, states.state, states.why from memory_states as states
    where states.number = (select max(number) from memory_states as newest where newest.lesson = states.lesson)
"""

_SHOWN = """
    select showings.lesson, showings.arm, ends.verdict from memory_showings as showings
    join memory_endings as ends on ends.episode = showings.episode
"""

# Each support of a lesson: when it came, whether the lesson had told that attempt, and whether it has its state since.
_SUPPORTS = """
    select supports.lesson, supports.episode, supports.at,
        case when showings.arm = 'shown' then 1 else 0 end,
        case when supports.at > coalesce((
            select max(states.at) from memory_states as states where states.lesson = supports.lesson
        ), 0) then 1 else 0 end
    from memory_supports as supports
    left join memory_showings as showings
        on showings.lesson = supports.lesson and showings.episode = supports.episode
    order by supports.rowid
"""

# How often each lesson was shown to a verified attempt since one in which it had an effect.
_UNUSED = """
    select votes.lesson, count(*) from memory_votes as votes
    where votes.effect = 'none' and votes.rowid > coalesce((
        select max(used.rowid) from memory_votes as used where used.lesson = votes.lesson and used.effect <> 'none'
    ), 0)
    group by votes.lesson
"""


class LessonBook:
    """Keeps lessons; each call is on disk when it returns, and harmless when repeated."""

    def __init__(self, rows: Rows, now: Callable[[], float] = time.time) -> None:
        self._rows = rows
        self._now = now

    def keep(self, lesson: Lesson, sources: Iterable[str], *, state: LessonState = "candidate") -> None:
        """Keep a lesson with the episodes that it grew from; one that is known gains what supports it further."""
        self._rows.together(lambda: self._keep(lesson, tuple(sources), state))

    def move(self, lesson: str, state: LessonState, why: str) -> None:
        """Have a lesson in another state from now on."""
        self._rows.together(lambda: self._move(lesson, state, why))

    def show(self, showings: Iterable[Showing]) -> None:
        """Note what an attempt was told, and what was held out of it."""
        rows: list[Values] = [{"lesson": one.lesson, "episode": one.episode, "arm": one.arm} for one in showings]
        self._add_all("memory_showings", rows)

    def vote(self, votes: Iterable[Vote]) -> None:
        """Note what lessons did for an attempt."""
        rows: list[Values] = [{"lesson": one.lesson, "episode": one.episode, "effect": one.effect} for one in votes]
        self._add_all("memory_votes", rows)

    def shown_to(self, episode: str) -> tuple[Showing, ...]:
        """What an attempt was told, and what was held out of it."""
        sql = "select lesson, episode, arm from memory_showings where episode = ? order by lesson"
        return tuple(
            Showing(lesson=lesson, episode=name, arm=arm) for lesson, name, arm in self._rows.read(sql, episode)
        )

    def told(self, lesson: str) -> tuple[str, ...]:
        """The attempts that a lesson was shown to."""
        sql = "select episode from memory_showings where lesson = ? and arm = 'shown' order by rowid"
        return tuple(episode for (episode,) in self._rows.read(sql, lesson))

    def standings(self, *, project: str = "") -> tuple[LessonStanding, ...]:
        """All lessons, of a project or of any, as they stand, oldest first."""
        sql = "select body from memory_lessons where (? = '' or project = ?) order by rowid"
        lessons = [load(Lesson, body) for (body,) in self._rows.read(sql, project, project)]
        states = {lesson: (state, why) for lesson, state, why in self._rows.read(_STATES)}
        supports: dict[str, list[Row]] = {}
        for name, *support in self._rows.read(_SUPPORTS):
            supports.setdefault(name, []).append(tuple(support))
        unused: dict[str, int] = dict(self._rows.read(_UNUSED))
        came = Counter(self._rows.read(_SHOWN))
        effects = Counter(self._rows.read("select lesson, effect from memory_votes"))
        return tuple(
            LessonStanding(
                lesson=lesson,
                state=states.get(lesson.id, ("candidate", ""))[0],
                why=states.get(lesson.id, ("candidate", ""))[1],
                sources=tuple(episode for episode, *_ in supports.get(lesson.id, ())),
                shown=(came[lesson.id, "shown", "passed"], came[lesson.id, "shown", "failed"]),
                held_out=(came[lesson.id, "held_out", "passed"], came[lesson.id, "held_out", "failed"]),
                helped=effects[lesson.id, "helped"],
                harmed=effects[lesson.id, "harmed"],
                without_effect=effects[lesson.id, "none"],
                opportunities=unused.get(lesson.id, 0),
                independent=sum(not told for _, _, told, _ in supports.get(lesson.id, ())),
                since=sum(is_later for _, _, _, is_later in supports.get(lesson.id, ())),
                supported_at=max((at for _, at, _, _ in supports.get(lesson.id, ())), default=0.0),
            )
            for lesson in lessons
        )

    def _add_all(self, table: str, rows: Iterable[Values]) -> None:
        dated = [{**row, "at": self._now()} for row in rows]
        self._rows.together(lambda: [self._rows.add(table, row) for row in dated])

    def _keep(self, lesson: Lesson, sources: tuple[str, ...], state: LessonState) -> None:
        added = self._rows.add(
            "memory_lessons",
            {
                "id": lesson.id,
                "project": lesson.project,
                "kind": lesson.kind,
                "scope": lesson.scope,
                "subject": lesson.subject,
                "source": lesson.source,
                "at": lesson.made_at,
                "body": dump(lesson),
            },
        )
        for episode in sources:
            self._rows.add("memory_supports", {"lesson": lesson.id, "episode": episode, "at": self._now()})
        if added:
            self._move(lesson.id, state, "learnt")

    def _move(self, lesson: str, state: LessonState, why: str) -> None:
        sql = "select number, state from memory_states where lesson = ? order by number desc limit 1"
        newest = self._rows.read(sql, lesson)
        if newest and newest[0][1] == state:
            return
        number = int(newest[0][0]) + 1 if newest else 1
        row: Values = {"lesson": lesson, "number": number, "state": state, "why": why, "at": self._now()}
        self._rows.add("memory_states", row)
