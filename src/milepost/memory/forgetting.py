"""Forgetting: episodes and lessons are taken away with all that grew from them, and do not come back from elsewhere.

What goes leaves a row that says so. It comes to the primary and to whoever else shares the memory, like all rows.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from milepost.core.errors import Misuse
from milepost.memory.fitting import Fitting
from milepost.memory.rows import Rows

_FORGOTTEN = "memory_forgotten"
_PARTS = re.compile(r"[\s,;:@#]+")
_ABBREVIATED = re.compile("[0-9a-f]{7,40}")  # a commit

# Lessons that were of use to an attempt, and what was learnt from that very attempt.
_GREW = """
    select distinct supports.lesson from memory_votes as votes
    join memory_supports as supports on supports.episode = votes.episode
    where votes.lesson = ? and votes.effect = 'helped' and supports.lesson <> votes.lesson
"""
_SUPPORTED = "select episode from memory_supports where lesson = ?"
_USED = "select lesson from memory_votes where episode = ? and effect = 'helped'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was taken away, by ids."""

    episodes: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


class Forgetting:
    """Takes rows away, each call whole or not at all; harmless when repeated."""

    def __init__(self, rows: Rows, now: Callable[[], float] = time.time) -> None:
        self._rows = rows
        self._now = now

    def episodes(self, ids: Iterable[str], why: str) -> Forgotten:
        """Forget episodes, with the lessons that grew from nothing else."""
        return self._forget(lambda: (list(ids), []), why)

    def lessons(self, ids: Iterable[str], why: str) -> Forgotten:
        """Forget lessons, with those that were learnt only from attempts which they helped."""
        return self._forget(lambda: ([], list(ids)), why)

    def grown_from(self, source: str, why: str) -> Forgotten:
        """Forget all that grew from an episode, a run, a commit or a path, with all that grew from that in turn."""
        if not source.strip():
            raise Misuse(
                "nothing was named that anything could have grown from", "name an episode, a run, a commit or a path"
            )
        return self._forget(lambda: (self.episodes_of(source), self.lessons_of(source)), why)

    def episodes_of(self, source: str) -> list[str]:
        """The episodes that are a source, are of a run, or whose evidence names it."""
        sql = "select id from memory_episodes where id = ? or run = ? order by rowid"
        found = [name for (name,) in self._rows.read(sql, source, source)]
        likely = self._rows.read("select episode, body from memory_endings where body like ?", f"%{_like(source)}%")
        named = [name for name, body in likely if _names(json.loads(body)["end"]["evidence"], source)]
        return list(dict.fromkeys([*found, *named]))

    def lessons_of(self, source: str) -> list[str]:
        """The lessons whose text was taken from a source."""
        likely = self._rows.read("select id, source from memory_lessons where source like ?", f"%{_like(source)}%")
        return [name for name, text in likely if _names([text], source)]

    def _forget(self, find: Callable[[], tuple[list[str], list[str]]], why: str) -> Forgotten:
        before: list[int] = []  # as it was before the first try: the answer to that may be lost

        def act() -> Forgotten:
            before.append(self._newest())
            self._forget_found(*find(), why)
            return self._since(before[0])

        return self._rows.together(act)

    def _forget_found(self, episodes: list[str], lessons: list[str], why: str) -> None:
        grown = self._grown(lessons)
        for name in episodes:
            grown.update(self._grown(self._only_from(name)))
            self._add("episode", name, why)
        for name in dict.fromkeys([*lessons, *grown]):
            self._add("lesson", name, why)

    def _since(self, rowid: int) -> Forgotten:
        sql = f"select kind, id from {_FORGOTTEN} where rowid > ? order by rowid"  # noqa: S608 - our name
        gone = self._rows.read(sql, rowid)
        return Forgotten(
            episodes=tuple(name for kind, name in gone if kind == "episode"),
            lessons=tuple(name for kind, name in gone if kind == "lesson"),
        )

    def _grown(self, lessons: Collection[str]) -> dict[str, None]:
        """The lessons all of whose episodes were helped by those that go, and those that grew from them in turn."""
        going: dict[str, None] = dict.fromkeys(lessons)
        waiting = list(going)
        while waiting:
            for (grown,) in self._rows.read(_GREW, waiting.pop()):
                if grown not in going and self._grew_only_from(grown, going):
                    going[grown] = None
                    waiting.append(grown)
        return going

    def _grew_only_from(self, lesson: str, going: Collection[str]) -> bool:
        episodes = [name for (name,) in self._rows.read(_SUPPORTED, lesson)]
        return all(any(used in going for (used,) in self._rows.read(_USED, name)) for name in episodes)

    def _only_from(self, episode: str) -> list[str]:
        """The lessons that grew from this episode and from no other."""
        lessons = self._rows.read("select lesson from memory_supports where episode = ?", episode)
        return [name for (name,) in lessons if self._rows.read(_SUPPORTED, name) == [(episode,)]]

    def _add(self, kind: Literal["episode", "lesson"], name: str, why: str) -> None:
        self._rows.add(_FORGOTTEN, {"kind": kind, "id": name, "why": Fitting().line(why), "at": self._now()})

    def _newest(self) -> int:
        ((number,),) = self._rows.read(f"select coalesce(max(rowid), 0) from {_FORGOTTEN}")  # noqa: S608 - our name
        return int(number)


def _names(texts: list[Any], source: str) -> bool:
    """Whether one of the texts is a source, or has it as one of its words; of a commit its beginning will do."""
    words = {word for text in texts for word in (str(text), *_PARTS.split(str(text)))}
    if _ABBREVIATED.fullmatch(source):
        return any(word.startswith(source) for word in words)
    return source in words


def _like(source: str) -> str:
    """A source within a pattern, where signs of patterns may be anything."""
    return source.replace("\\", "_").replace("%", "_")
