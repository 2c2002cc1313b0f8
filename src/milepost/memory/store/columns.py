"""What a row says of a value in columns of its own, beside the body that has all of it.

Rows are written by these, and rows from outside are held against them: a body has to say the same as its columns.
"""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.memories import Assessment, EpisodeEnd, EpisodeStart, EpisodeStep, Lesson

Columns = dict[str, str | int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedEpisode:
    """What is kept when an episode ends."""

    end: EpisodeEnd
    assessment: Assessment


def of_start(start: EpisodeStart) -> Columns:
    return {
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
    }


def of_step(step: EpisodeStep) -> Columns:
    return {
        "number": step.number,
        "tool": step.tool,
        "result": step.result,
        "signature": step.signature,
        "at": step.at,
    }


def of_end(ended: EndedEpisode) -> Columns:
    return {
        "kind": ended.end.kind,
        "verdict": ended.end.verdict.value if ended.end.verdict else "",
        "judged": int(ended.end.judged),
        "reward": ended.assessment.reward.total,
        "at": ended.end.ended_at,
    }


def of_lesson(lesson: Lesson) -> Columns:
    return {
        "id": lesson.id,
        "project": lesson.project,
        "kind": lesson.kind,
        "scope": lesson.scope,
        "subject": lesson.subject,
        "source": lesson.source,
        "at": lesson.made_at,
    }
