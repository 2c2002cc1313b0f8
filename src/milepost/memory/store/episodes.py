"""The journal of episodes: each is started, logged step by step and completed, on disk when the call returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from milepost.core.errors import EpisodeDiverged, EpisodeFull, EpisodeInvalid, EpisodeUnknown
from milepost.core.memories import (
    Assessment,
    EndKind,
    Episode,
    EpisodeEnd,
    EpisodeStart,
    EpisodeStep,
    Took,
)
from milepost.core.verdict import Verdict
from milepost.memory.store.as_json import dump, load
from milepost.memory.store.bounds import END_BYTES, EPISODE_BYTES, STEPS, STEPS_BYTES, without_middle
from milepost.memory.store.columns import EndedEpisode, of_end, of_start, of_step
from milepost.memory.store.owners import is_gone, owner_here, run_owner
from milepost.memory.store.rows import Rows
from milepost.memory.store.sanitise import SHAPES, Redact, Sanitiser
from milepost.store.rows import Row

_ENDED = """
    select starts.body, ends.body from memory_endings as ends join memory_episodes as starts on starts.id = ends.episode
    where {conditions} order by ends.at desc, ends.rowid desc limit ?
"""
_OPEN = """
    select starts.body from memory_episodes as starts
    where {conditions} not exists (select 1 from memory_endings as ends where ends.episode = starts.id)
    order by starts.rowid
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extent:
    """How far an episode has come: its steps, the number of the last one, and the bytes of all of them."""

    steps: int
    last: int
    size: int


class Journal:
    """Keeps episodes, without secrets and within bounds. What is already there stays as it was first told."""

    def __init__(self, rows: Rows, now: Callable[[], float] = time.time, *, redact: Redact = SHAPES) -> None:
        self._rows = rows
        self._now = now
        self._fitting = Sanitiser(redact)
        self._extents: dict[str, _Extent] = {}

    def start(self, start: EpisodeStart) -> None:
        """Begin an episode; harmless when repeated."""
        fit = self._fitting.start(start)
        self._rows.together(lambda: self._add_start(fit))

    def log(self, episode: str, step: EpisodeStep) -> int:
        """Add a step to an open episode; gives its number.

        A step that has a number is added once: the same one again is harmless, another one is refused, and the first
        stays. One that the episode has no room for is refused; it can be completed all the same.
        """
        fit = self._fitting.step(step)
        tried: list[EpisodeStep] = []

        def add() -> int:
            for before in tried:  # the answer to a commit may be lost, and then the act comes again
                if self._holds(episode, before):
                    return before.number
            tried.append(self._add_step(episode, fit))
            return tried[-1].number

        return self._rows.together(add)

    def complete(self, episode: str, end: EpisodeEnd, assessment: Assessment) -> None:
        """End an open episode; harmless when repeated in the same words."""
        fit = self._fitting.assessment(assessment)
        self._rows.together(lambda: self._add_end(episode, end, fit))

    def record(self, episode: Episode) -> None:
        """Keep a whole episode that has ended, or what is missing of it; harmless when repeated.

        Where it has more steps than are kept, those in the middle are left out, and a step says so.
        """
        assert episode.end is not None
        end, assessment = episode.end, self._fitting.assessment(episode.assessment or Assessment())
        start, steps = self._fitting.start(episode.start), [self._fitting.step(step) for step in episode.steps]
        sizes = [len(dump(step).encode()) for step in steps]
        whole = without_middle(steps, sizes, STEPS_BYTES - len(dump(start).encode()))

        def add() -> None:
            self._add_start(start)
            if self._exists(episode.id) and self._is_open(episode.id):
                sql = "select number from memory_steps where episode = ?"
                known = {number for (number,) in self._rows.read(sql, episode.id)}
                for step in whole:
                    if step.number not in known:
                        self._put_step(episode.id, replace(step, at=step.at or self._now()))
                self._add_end(episode.id, end, assessment)

        self._rows.together(add)

    def close_interrupted(
        self, *, ended_runs: Collection[str] = (), project: str = "", by: str = ""
    ) -> tuple[Episode, ...]:
        """End all open episodes whose owner will not: a process of this machine that is gone, or a run that ended.

        Gives those, without their steps. What belongs to a living process, to another machine or to a run that may go
        on stays open.
        """
        owners = frozenset(map(run_owner, ended_runs))
        closed: dict[str, Episode] = {}  # also by a try whose answer was lost

        def close() -> tuple[Episode, ...]:
            left = [one for one in self.open(project=project) if one.start.owner in owners or is_gone(one.start.owner)]
            closed.update({one.id: self._close(one, by or owner_here()) for one in left})
            return tuple(closed.values())

        return self._rows.together(close)

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

    def ended(
        self, *, project: str = "", kind: EndKind | None = None, verdict: Verdict | None = None, most: int = 100
    ) -> tuple[Episode, ...]:
        """The newest episodes that have ended, of a project or of any, oldest first, without their steps."""
        wanted = {"project": project, "kind": kind or "", "verdict": verdict or ""}
        chosen = {name: text for name, text in wanted.items() if text}
        conditions = " and ".join(f"ends.{name} = ?" for name in chosen) or "1 = 1"
        rows = self._rows.read(_ENDED.format(conditions=conditions), *chosen.values(), most)
        return tuple(reversed([_ended(row) for row in rows]))

    def open(self, *, project: str = "") -> tuple[Episode, ...]:
        """The episodes that have not ended, oldest first, without their steps."""
        conditions, values = ("project = ? and", [project]) if project else ("", [])
        rows = self._rows.read(_OPEN.format(conditions=conditions), *values)
        return tuple(Episode(start=load(EpisodeStart, body)) for (body,) in rows)

    def of_task(self, run: str, task: str, *, project: str, owner: str = "") -> tuple[str, ...]:
        """The episodes of a task in a run of a project, by their ids.

        Another run of the project may have the same name on another machine: its `owner` tells them apart.
        """
        sql = "select id, owner from memory_episodes where project = ? and run = ? and task = ? order by rowid"
        return tuple(name for name, whose in self._rows.read(sql, project, run, task) if owner in ("", whose))

    def took(self, most: int, *, project: str = "") -> tuple[Took, ...]:
        """What the newest attempts of runs took that came to an end, of a project or of any, oldest first."""
        return tuple(
            Took(
                run=one.start.run,
                owner=f"{one.start.project} {one.start.owner}",
                task=one.start.task,
                title=one.start.title,
                attempt=one.start.attempt,
                agent=one.start.agent,
                verdict=one.end.verdict or Verdict.UNVERIFIED,
                duration_ms=one.end.duration_ms,
                cost_usd=one.end.cost_usd,
                tags=one.start.circumstances.tags,
                judged=one.end.judged,
            )
            for one in self.ended(project=project, most=most)
            if one.end is not None and one.end.kind != "interrupted" and one.start.run
        )

    def _add_start(self, start: EpisodeStart) -> None:
        self._rows.add("memory_episodes", {**of_start(start), "body": dump(start)})

    def _add_step(self, episode: str, step: EpisodeStep) -> EpisodeStep:
        if step.number < 0:
            raise EpisodeInvalid(
                f"a step cannot have the number {step.number}", "count from 1, or leave the number out"
            )
        if step.number and self._is_kept(episode, step):
            return step
        self._require_open(episode)
        extent = self._extent(episode)
        whole = replace(step, number=step.number or extent.last + 1, at=step.at or self._now())
        size = extent.size + len(dump(whole).encode())
        self._require_room(episode, extent.steps, size)
        self._put_step(episode, whole)
        last = max(extent.last, whole.number)
        self._extents[episode] = _Extent(steps=extent.steps + 1, last=last, size=size)
        return whole

    def _put_step(self, episode: str, step: EpisodeStep) -> None:
        self._rows.add("memory_steps", {"episode": episode, **of_step(step), "body": dump(step)})

    def _holds(self, episode: str, step: EpisodeStep) -> bool:
        sql = "select body from memory_steps where episode = ? and number = ?"
        return self._rows.read(sql, episode, step.number) == [(dump(step),)]

    def _is_kept(self, episode: str, step: EpisodeStep) -> bool:
        """Whether this very step was kept before; when is not compared where nobody said so."""
        sql = "select body from memory_steps where episode = ? and number = ?"
        for (body,) in self._rows.read(sql, episode, step.number):
            if dump(replace(step, at=step.at or load(EpisodeStep, body).at)) == body:
                return True
            raise EpisodeDiverged(
                f"episode {episode!r} has another step {step.number} already",
                "the first one is kept: give each writer its own numbers, or none",
            )
        return False

    def _extent(self, episode: str) -> _Extent:
        """How far an episode has come; its steps are looked at anew only where others added some."""
        sql = "select count(*), coalesce(max(number), 0) from memory_steps where episode = ?"
        ((steps, last),) = self._rows.read(sql, episode)
        known = self._extents.get(episode)
        if known is not None and (known.steps, known.last) == (steps, last):
            return known
        ((start,),) = self._rows.read("select body from memory_episodes where id = ?", episode)
        bodies = self._rows.read("select body from memory_steps where episode = ?", episode)
        size = sum(len(body.encode()) for (body,) in bodies)
        return _Extent(steps=steps, last=last, size=size + len(start.encode()))

    def _require_room(self, episode: str, steps: int, size: int) -> None:
        if steps >= STEPS or size > STEPS_BYTES:
            reached = f"{STEPS:,} steps" if steps >= STEPS else f"{STEPS_BYTES:,} bytes of steps"
            raise EpisodeFull(f"episode {episode!r} has reached {reached}", "complete it, and start another one")

    def _add_end(self, episode: str, end: EpisodeEnd, assessment: Assessment) -> None:
        self._require_started(episode)
        ((project,),) = self._rows.read("select project from memory_episodes where id = ?", episode)
        room = EPISODE_BYTES - END_BYTES - self._extent(episode).size if end.exhibits else 0
        fit = self._fitting.end(end, room)
        ended = EndedEpisode(end=fit, assessment=assessment)
        body = dump(ended)
        if self._has_ended(episode, body):
            return
        self._rows.add("memory_endings", {"episode": episode, "project": project, **of_end(ended), "body": body})
        self._extents.pop(episode, None)

    def _has_ended(self, episode: str, body: str) -> bool:
        """Whether an episode has ended in these words; one that ended in others is not ended again."""
        for (kept,) in self._rows.read("select body from memory_endings where episode = ?", episode):
            if kept == body:
                return True
            raise EpisodeUnknown(f"episode {episode!r} has ended", "start another one")
        return False

    def _close(self, left: Episode, by: str) -> Episode:
        """An open episode with an end that says that nobody ended it, and who found that out."""
        now = self._now()
        ((last,),) = self._rows.read("select max(at) from memory_steps where episode = ?", left.id)
        found = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
        end = EpisodeEnd(
            kind="interrupted",
            ended_at=now,
            reason=f"{left.start.owner} left it without an end: found at {found} by {by}",
            duration_ms=max(0, round(((last or left.start.started_at) - left.start.started_at) * 1000)),
        )
        self._add_end(left.id, end, Assessment())
        return replace(left, end=self._fitting.end(end, 0), assessment=Assessment())

    def _exists(self, episode: str) -> bool:
        return bool(self._rows.read("select 1 from memory_episodes where id = ?", episode))

    def _is_open(self, episode: str) -> bool:
        return not self._rows.read("select 1 from memory_endings where episode = ?", episode)

    def _require_started(self, episode: str) -> None:
        if not self._exists(episode):
            raise EpisodeUnknown(f"there is no episode {episode!r}", "list them: milepost memory list")

    def _require_open(self, episode: str) -> None:
        self._require_started(episode)
        if not self._is_open(episode):
            raise EpisodeUnknown(f"episode {episode!r} has ended", "start another one")


def _ended(row: Row) -> Episode:
    start, end = row
    return _with_end(Episode(start=load(EpisodeStart, start)), end)


def _with_end(episode: Episode, body: str) -> Episode:
    ended = load(EndedEpisode, body)
    return replace(episode, end=ended.end, assessment=ended.assessment)
