"""Episodes of agents from outside: they say themselves how their work ended, so nothing they say is verified."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from milepost.core.errors import EpisodeUnknown
from milepost.core.memories import Assessment, EndKind, EpisodeEnd, EpisodeStart, EpisodeStep, StepResult, TaskKind
from milepost.core.signature import signature
from milepost.core.task import Task
from milepost.engine.circumstances import circumstances_of, kind_of
from milepost.memory.assess import assess
from milepost.memory.memory import StoredMemory

LONGEST_TITLE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outsiders:
    """Writes down what agents from outside do, without secrets."""

    memory: StoredMemory
    project: str
    redact: Callable[[str], str]

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
        title, text = self.redact(title.strip()[:LONGEST_TITLE]), self.redact(text)
        task = Task(id="", title=title, status="open", line=0, text=text, files=tuple(map(self.redact, files)))
        start = EpisodeStart(
            id=uuid.uuid4().hex[:24],
            project=self.project,
            title=title,
            started_at=time.time(),
            owner=owner,
            agent=self.redact(agent),
            text=text,
            kind=kind or kind_of(task),
            circumstances=circumstances_of(task, (), {}),
            files=task.files,
        )
        self.memory.journal.start(start)
        return start.id

    def log(
        self,
        episode: str,
        *,
        tool: str,
        action: str,
        parameters: Mapping[str, Any] | None = None,
        result: StepResult = "success",
        observation: str = "",
        latency_ms: int = 0,
        tokens: int = 0,
    ) -> int:
        """Add a step; gives its number."""
        seen = self.redact(observation)
        step = EpisodeStep(
            tool=self.redact(tool),
            action=self.redact(action),
            parameters=redacted(dict(parameters or {}), self.redact),
            result=result,
            observation=seen,
            signature=signature(seen) if result != "success" and seen.strip() else "",
            latency_ms=latency_ms,
            tokens=tokens,
        )
        return self.memory.journal.log(episode, step)

    def complete(self, episode: str, *, outcome: EndKind, reason: str = "") -> Assessment:
        """End an episode by its agent's word, and tell what it was worth."""
        known = self.memory.journal.episode(episode)
        if known is None or known.end is not None or known.start.run:
            raise EpisodeUnknown(
                f"no episode {episode!r} of yours is open", "see them: milepost memory list --episodes"
            )
        now = time.time()
        end = EpisodeEnd(
            kind=outcome,
            ended_at=now,
            reason=self.redact(reason),
            signatures=tuple(dict.fromkeys(step.signature for step in known.steps[-1:] if step.signature)),
            duration_ms=max(0, round((now - known.start.started_at) * 1000)),
            tokens=sum(step.tokens for step in known.steps),
        )
        made = assess(replace(known, end=end))
        self.memory.journal.complete(episode, end, made)
        return made


def redacted(value: Any, redact: Callable[[str], str]) -> Any:
    """A value of JSON with all its texts redacted, names of fields among them."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(name)): redacted(one, redact) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(one, redact) for one in value]
    return value if isinstance(value, bool | int | float) or value is None else redact(str(value))
