"""Forgetting: episodes and lessons are taken away with all that grew from them, and do not come back from elsewhere.

What goes leaves a row that says so. It comes to the primary and to whoever else shares the memory, like all rows.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from milepost.core.errors import Misuse
from milepost.memory.lessons.lineage import is_commit, of_source, offspring
from milepost.memory.store.lessons import LessonBook
from milepost.memory.store.owners import run_owner
from milepost.memory.store.rows import Rows
from milepost.memory.store.sanitise import Sanitiser

LONGEST_SOURCE = 4_096

_FORGOTTEN = "memory_forgotten"
_ITSELF = "select id from memory_episodes where id = ? order by rowid"
_OF_RUN = """
    select id from memory_episodes where (run = ? or owner = ?) and (project = ? or ? = '') order by rowid
"""
_ENDINGS = "select episode, project, body from memory_endings where body like ? order by rowid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was taken away, by ids."""

    episodes: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Going:
    """What is to go, by ids, without what grew from it."""

    episodes: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


class Forgetting:
    """Takes rows away with all that grew from them, each call whole or not at all; harmless when repeated."""

    def __init__(self, rows: Rows, now: Callable[[], float] = time.time) -> None:
        self._rows = rows
        self._lessons = LessonBook(rows)
        self._now = now

    def episodes(self, ids: Iterable[str], why: str) -> Forgotten:
        """Forget episodes."""
        going = _Going(episodes=tuple(ids))
        return self._forget(lambda: going, why)

    def lessons(self, ids: Iterable[str], why: str) -> Forgotten:
        """Forget lessons."""
        going = _Going(lessons=tuple(ids))
        return self._forget(lambda: going, why)

    def grown_from(self, source: str, why: str, *, project: str = "", beside: Iterable[str] = ()) -> Forgotten:
        """Forget all that came from an episode, a commit, a path or a run, and the episodes `beside`.

        Names of runs and paths come again elsewhere: only episodes of the project go for them, of any where none is
        named.
        """
        if not source.strip() or len(source) > LONGEST_SOURCE:
            raise Misuse("nothing can come from that", "name an episode, a run, a commit or a path")
        known = tuple(beside)
        return self._forget(lambda: self._from(source, project, known), why)

    def project(self, project: str, why: str) -> Forgotten:
        """Forget all episodes and lessons of a project."""
        return self._forget(lambda: self._of_project(project), why)

    def _of_project(self, project: str) -> _Going:
        episodes = self._rows.read("select id from memory_episodes where project = ? order by rowid", project)
        lessons = self._rows.read("select id from memory_lessons where project = ? order by rowid", project)
        return _Going(episodes=tuple(name for (name,) in episodes), lessons=tuple(name for (name,) in lessons))

    def _from(self, source: str, project: str, beside: Iterable[str]) -> _Going:
        named = [*beside, *(name for (name,) in self._rows.read(_ITSELF, source))]
        named += [name for (name,) in self._rows.read(_OF_RUN, source, run_owner(source), project, project)]
        for name, whose, body in self._rows.read(_ENDINGS, f"%{_like(source)}%"):
            end = json.loads(body)["end"]
            if _shows(end, source) or (_changed(end, source) and project in ("", whose)):
                named.append(name)
        lessons = of_source(self._lessons.standings(), source)
        return _Going(episodes=tuple(dict.fromkeys(named)), lessons=tuple(one.lesson.id for one in lessons))

    def _forget(self, find: Callable[[], _Going], why: str) -> Forgotten:
        before: list[int] = []  # as it was before the first try: the answer to that may be lost

        def act() -> Forgotten:
            before.append(self._newest())
            self._forget_found(find(), why)
            return self._since(before[0])

        return self._rows.together(act)

    def _forget_found(self, going: _Going, why: str) -> None:
        grown = offspring(self._lessons.standings(), going.lessons, self._lessons.told, going.episodes)
        for name in going.episodes:
            self._add("episode", name, why)
        for name in dict.fromkeys((*going.lessons, *(one.lesson.id for one in grown))):
            self._add("lesson", name, why)

    def _since(self, rowid: int) -> Forgotten:
        sql = f"select kind, id from {_FORGOTTEN} where rowid > ? order by rowid"  # noqa: S608 - our name
        gone = self._rows.read(sql, rowid)
        return Forgotten(
            episodes=tuple(name for kind, name in gone if kind == "episode"),
            lessons=tuple(name for kind, name in gone if kind == "lesson"),
        )

    def _add(self, kind: Literal["episode", "lesson"], name: str, why: str) -> None:
        self._rows.add(_FORGOTTEN, {"kind": kind, "id": name, "why": Sanitiser().line(why), "at": self._now()})

    def _newest(self) -> int:
        ((number,),) = self._rows.read(f"select coalesce(max(rowid), 0) from {_FORGOTTEN}")  # noqa: S608 - our name
        return int(number)


def _shows(end: Mapping[str, Any], source: str) -> bool:
    """Whether an end is shown by this commit or tree: those come first, the names of checks after them."""
    return any(is_commit(str(named), source) for named in end["evidence"][:2])


def _changed(end: Mapping[str, Any], source: str) -> bool:
    return source in end["changed"]


def _like(source: str) -> str:
    """A source within a pattern for JSON, where signs of patterns may be anything."""
    return json.dumps(source, ensure_ascii=False)[1:-1].replace("\\", "_").replace("%", "_")
