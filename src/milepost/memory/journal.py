"""The journal of episodes: each is started, logged step by step and completed, on disk when the call returns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from milepost.core.errors import EpisodeUnknown
from milepost.core.memories import UNJUDGED, Assessment, Episode, EpisodeEnd, EpisodeStart, EpisodeStep, Took
from milepost.core.verdict import Verdict
from milepost.memory.rows import Rows
from milepost.memory.wire import dump, load
from milepost.store.database import Row

_ENDED = """
    select starts.body, ends.body from memory_endings as ends
    join memory_episodes as starts on starts.id = ends.episode
    where (? = '' or ends.project = ?) order by ends.rowid desc limit ?
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What is kept when an episode ends."""

    end: EpisodeEnd
    assessment: Assessment


class Journal:
    """Keeps episodes. What is already there stays as it was first told."""

    def __init__(self, rows: Rows, now: Callable[[], float] = time.time) -> None:
        self._rows = rows
        self._now = now

    def start(self, start: EpisodeStart) -> None:
        """Begin an episode; harmless when repeated."""
        self._rows.together(lambda: self._add_start(start))

    def log(self, episode: str, step: EpisodeStep) -> int:
        """Add a step to an open episode; gives its number. A step that has a number is added once."""
        return self._rows.together(lambda: self._add_step(episode, step))

    def complete(self, episode: str, end: EpisodeEnd, assessment: Assessment) -> None:
        """End an open episode."""
        self._rows.together(lambda: self._add_end(episode, end, assessment))

    def record(self, episode: Episode) -> None:
        """Keep a whole episode that has ended, or what is missing of it; harmless when repeated."""
        assert episode.end is not None
        end, assessment = episode.end, episode.assessment or Assessment()

        def add() -> None:
            self._add_start(episode.start)
            if self._is_open(episode.id):
                for step in episode.steps:
                    self._add_step(episode.id, step)
                self._add_end(episode.id, end, assessment)

        self._rows.together(add)

    def episode(self, episode: str) -> Episode | None:
        """An episode with all its steps."""
        starts = self._rows.read("select body from memory_episodes where id = ?", episode)
        if not starts:
            return None
        steps = self._rows.read("select number, body from memory_steps where episode = ? order by number", episode)
        ends = self._rows.read("select body from memory_endings where episode = ?", episode)
        whole = Episode(
            start=load(EpisodeStart, starts[0][0]),
            steps=tuple(replace(load(EpisodeStep, body), number=number) for number, body in steps),
        )
        return whole if not ends else _with_end(whole, ends[0][0])

    def ended(self, *, project: str = "", most: int = 100) -> tuple[Episode, ...]:
        """The newest episodes that have ended, oldest first, without their steps."""
        found = [_ended(row) for row in self._rows.read(_ENDED, project, project, most)]
        return tuple(reversed(found))

    def of_task(self, run: str, task: str) -> tuple[str, ...]:
        """The episodes of a task in a run, by their ids."""
        sql = "select id from memory_episodes where run = ? and task = ? order by rowid"
        return tuple(name for (name,) in self._rows.read(sql, run, task))

    def took(self, most: int) -> tuple[Took, ...]:
        """What the newest verified or tried attempts took, oldest first."""
        return tuple(
            Took(
                run=one.start.run,
                task=one.start.task,
                title=one.start.title,
                attempt=one.start.attempt,
                agent=one.start.agent,
                verdict=one.end.verdict or Verdict.UNVERIFIED,
                duration_ms=one.end.duration_ms,
                cost_usd=one.end.cost_usd,
                tags=one.start.circumstances.tags,
                judged=UNJUDGED not in one.end.signals,
            )
            for one in self.ended(most=most)
            if one.end is not None and one.start.run
        )

    def _add_start(self, start: EpisodeStart) -> None:
        self._rows.add(
            "memory_episodes",
            {
                "id": start.id,
                "project": start.project,
                "run": start.run,
                "task": start.task,
                "attempt": start.attempt,
                "agent": start.agent,
                "title": start.title,
                "kind": start.kind,
                "owner": start.owner,
                "at": start.started_at,
                "body": dump(start),
            },
        )

    def _add_step(self, episode: str, step: EpisodeStep) -> int:
        self._require_open(episode)
        sql = "select coalesce(max(number), 0) + 1 from memory_steps where episode = ?"
        number = step.number or int(self._rows.read(sql, episode)[0][0])
        at = step.at or self._now()
        self._rows.add(
            "memory_steps",
            {
                "episode": episode,
                "number": number,
                "tool": step.tool,
                "result": step.result,
                "signature": step.signature,
                "at": at,
                "body": dump(replace(step, number=number, at=at)),
            },
        )
        return number

    def _add_end(self, episode: str, end: EpisodeEnd, assessment: Assessment) -> None:
        self._require_open(episode)
        project = self._rows.read("select project from memory_episodes where id = ?", episode)[0][0]
        self._rows.add(
            "memory_endings",
            {
                "episode": episode,
                "project": project,
                "kind": end.kind,
                "verdict": end.verdict.value if end.verdict else "",
                "reward": assessment.reward.total,
                "at": end.ended_at,
                "body": dump(Ended(end=end, assessment=assessment)),
            },
        )

    def _is_open(self, episode: str) -> bool:
        return not self._rows.read("select 1 from memory_endings where episode = ?", episode)

    def _require_open(self, episode: str) -> None:
        if not self._rows.read("select 1 from memory_episodes where id = ?", episode):
            raise EpisodeUnknown(f"there is no episode {episode!r}", "see those that there are: milepost memory list")
        if not self._is_open(episode):
            raise EpisodeUnknown(f"episode {episode!r} has ended", "begin another one")


def _ended(row: Row) -> Episode:
    start, end = row
    return _with_end(Episode(start=load(EpisodeStart, start)), end)


def _with_end(episode: Episode, body: str) -> Episode:
    ended = load(Ended, body)
    return replace(episode, end=ended.end, assessment=ended.assessment)
