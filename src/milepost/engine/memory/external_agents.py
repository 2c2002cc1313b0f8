"""Episodes of agents from outside: they say themselves how their work ended, so nothing they say is verified."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from milepost.core.errors import EpisodeUnknown, Misuse
from milepost.core.failure_signature import signature
from milepost.core.memories import (
    Assessment,
    EndKind,
    Episode,
    EpisodeEnd,
    EpisodeStart,
    EpisodeStep,
    StepResult,
    TaskKind,
)
from milepost.core.task import Task
from milepost.engine.memory.task_kind import circumstances_of, kind_of
from milepost.memory.assessment.assess import assess
from milepost.memory.memory import StoredMemory

NOBODY = "outside"  # the owner of an episode that no process holds: each of its steps may come from another one
LEFT_S = 86_400.0  # after so long without a step nobody will end such a one


@dataclass(frozen=True, slots=True, kw_only=True)
class Outsiders:
    """Writes down what agents from outside do."""

    memory: StoredMemory
    project: str

    def start(
        self,
        *,
        title: str,
        owner: str,
        text: str = "",
        kind: TaskKind | None = None,
        agent: str = "",
        files: Sequence[str] = (),
    ) -> str:
        """Begin an episode; gives its id."""
        if not title.strip():
            raise Misuse("an episode needs a title", "describe the task in one line")
        if kind is not None:
            _require_one_of(kind, get_args(TaskKind))
        task = Task(id="", title=title.strip(), status="open", line=0, text=text, files=tuple(files))
        start = EpisodeStart(
            id=uuid.uuid4().hex[:24],
            project=self.project,
            title=task.title,
            started_at=time.time(),
            owner=owner,
            agent=agent,
            text=text,
            kind=kind or kind_of(task),
            circumstances=circumstances_of(task, (), {}),
            files=task.files,
        )
        self.memory.journal.start(start)
        return start.id

    def log(self, episode: str, step: EpisodeStep) -> int:
        """Add a step; gives its number. The signature of its error is ours to make."""
        _require_one_of(step.result, get_args(StepResult))
        self._require_theirs(episode)
        is_error = step.result != "success" and bool(step.observation.strip())
        return self.memory.journal.log(
            episode, replace(step, signature=signature(step.observation) if is_error else "")
        )

    def complete(self, episode: str, *, outcome: EndKind, reason: str = "") -> Assessment:
        """End an episode by its agent's word, and tell what it was worth."""
        _require_one_of(outcome, get_args(EndKind))
        known, now = self._require_theirs(episode), time.time()
        if known.end is not None:
            raise EpisodeUnknown(f"episode {episode!r} has ended", "start another one")
        end = EpisodeEnd(
            kind=outcome,
            ended_at=now,
            reason=reason,
            signatures=tuple(step.signature for step in known.steps[-1:] if step.signature and outcome != "success"),
            duration_ms=max(0, round((now - known.start.started_at) * 1000)),
            tokens=sum(step.tokens for step in known.steps),
        )
        made = assess(replace(known, end=end))
        self.memory.journal.complete(episode, end, made)
        return made

    def close_left(self) -> tuple[Episode, ...]:
        """End as interrupted what nobody will end: its process is gone, or no step for a day."""
        closed = list(self.memory.journal.close_interrupted(project=self.project))
        now = time.time()
        for one in self.memory.journal.open(project=self.project):
            whole = self.memory.journal.episode(one.id)
            if one.start.owner != NOBODY or whole is None or now - _last_at(whole) < LEFT_S:
                continue
            took = max(0, round((_last_at(whole) - one.start.started_at) * 1000))
            end = EpisodeEnd(kind="interrupted", ended_at=now, reason="no step for a day", duration_ms=took)
            self.memory.journal.complete(one.id, end, Assessment())
            closed.append(replace(one, end=end))
        return tuple(closed)

    def _require_theirs(self, episode: str) -> Episode:
        """An episode that is no attempt of a run: those the engine alone tells."""
        known = self.memory.journal.episode(episode)
        if known is None or known.start.run:
            raise EpisodeUnknown(
                f"there is no episode {episode!r} of an external agent", "milepost memory list --episodes"
            )
        return known


def _require_one_of(word: str, known: tuple[str, ...]) -> None:
    """Raise for a word that nobody could read back: types hold no caller of the library to it."""
    if word not in known:
        raise Misuse(f"{word!r} is not one of {', '.join(known)}", "use one of these")


def _last_at(episode: Episode) -> float:
    return max([episode.start.started_at, *(step.at for step in episode.steps)])
