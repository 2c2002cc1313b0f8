"""What the rows of a memory look like: the columns of each table, and why a row from outside is none of ours."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from milepost.core.memories import Arm, Effect, EpisodeStart, EpisodeStep, Lesson, LessonState
from milepost.memory.journal import Ended
from milepost.memory.rows import digest_of
from milepost.memory.wire import dump, load

Line = Mapping[str, Any]

LONGEST_NAME = 500  # signs of an id, a project, a path: what is fit for a key

_NUMBERS: dict[str, type] = {"attempt": int, "number": int, "at": float, "reward": float}
# Parents before what belongs to them: the order of the lines of an export.
COLUMNS: dict[str, dict[str, type]] = {
    table: {name: _NUMBERS.get(name, str) for name in names.split()}
    for table, names in {
        "memory_episodes": "id project run task attempt agent title kind owner at body",
        "memory_steps": "episode number tool result signature at body",
        "memory_endings": "episode project kind verdict reward at body",
        "memory_lessons": "id project kind scope subject source at body",
        "memory_supports": "lesson episode at",
        "memory_states": "lesson number state why at",
        "memory_showings": "lesson episode arm at",
        "memory_votes": "lesson episode effect at",
        "memory_forgotten": "kind id why at",
    }.items()
}
# The most signs of a text; what a key is made of is fit for one.
_BOUNDS = {"title": 10_000, "agent": 10_000, "signature": 10_000, "subject": 10_000, "source": 10_000, "why": 2_000}


def start_columns(start: EpisodeStart) -> Line:
    """The row of an episode's start, but for its digest."""
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
        "body": dump(start),
    }


def end_columns(episode: str, project: str, ended: Ended) -> Line:
    """The row of an episode's end, but for its digest."""
    return {
        "episode": episode,
        "project": project,
        "kind": ended.end.kind,
        "verdict": ended.end.verdict.value if ended.end.verdict else "",
        "reward": ended.assessment.reward.total,
        "at": ended.end.ended_at,
        "body": dump(ended),
    }


def lesson_columns(lesson: Lesson) -> Line:
    """The row of a lesson, but for its digest."""
    return {
        "id": lesson.id,
        "project": lesson.project,
        "kind": lesson.kind,
        "scope": lesson.scope,
        "subject": lesson.subject,
        "source": lesson.source,
        "at": lesson.made_at,
        "body": dump(lesson),
    }


def flaw_of(table: str, row: Line) -> str:
    """Why a row is none that this program wrote; empty where it could have."""
    if table not in COLUMNS:
        return f"there is no table {table[:40]!r}"
    if row.keys() != COLUMNS[table].keys() | {"digest"}:
        return f"its columns are not those of {table}"
    for name, kind in COLUMNS[table].items():
        if flaw := _misfit(name, kind, row[name]):
            return f"{name!r} {flaw}"
    if row["digest"] != digest_of(row):
        return "its digest does not fit: it was changed or damaged"
    return _CHECKS[table](row)


def _misfit(name: str, kind: type, value: Any) -> str:
    if kind is str:
        if not isinstance(value, str):
            return "is no text"
        return "is too long" if name != "body" and len(value) > _BOUNDS.get(name, LONGEST_NAME) else ""
    number = isinstance(value, int | float if kind is float else int) and not isinstance(value, bool)
    return "" if number and math.isfinite(value) else "is no number"


def _start(row: Line) -> str:
    return _as_body(row, EpisodeStart, start_columns)


def _step(row: Line) -> str:
    def columns(step: EpisodeStep) -> Line:
        told = {"number": step.number, "tool": step.tool, "result": step.result, "signature": step.signature}
        return {**told, "episode": row["episode"], "at": step.at, "body": dump(step)}

    return _as_body(row, EpisodeStep, columns)


def _end(row: Line) -> str:
    return _as_body(row, Ended, lambda ended: end_columns(row["episode"], row["project"], ended))


def _lesson(row: Line) -> str:
    return _as_body(row, Lesson, lesson_columns)


def _one_of(name: str, known: tuple[str, ...]) -> Callable[[Line], str]:
    return lambda row: "" if row[name] in known else f"{name!r} is none of {', '.join(known)}"


def _as_body(row: Line, kind: type[Any], columns: Callable[[Any], Line]) -> str:
    """Why a body is not that of its row: it cannot be read, has something unknown in it, or tells otherwise."""
    try:
        value = load(kind, row["body"])
        told = {name: text for name, text in columns(value).items() if name != "body"}
        if not _within(json.loads(row["body"]), json.loads(dump(value))):
            return "there is something in its body that this version does not know"
    except (ValidationError, ValueError, RecursionError):
        return "its body cannot be read"
    return "" if all(row[name] == text for name, text in told.items()) else "its body tells otherwise than its columns"


def _within(given: Any, known: Any) -> bool:
    if isinstance(given, dict) and isinstance(known, dict):
        return all(name in known and _within(value, known[name]) for name, value in given.items())
    if isinstance(given, list) and isinstance(known, list):
        return len(given) == len(known) and all(map(_within, given, known))
    return bool(given == known)


_CHECKS: dict[str, Callable[[Line], str]] = {
    "memory_episodes": _start,
    "memory_steps": _step,
    "memory_endings": _end,
    "memory_lessons": _lesson,
    "memory_supports": lambda _: "",
    "memory_states": _one_of("state", get_args(LessonState)),
    "memory_showings": _one_of("arm", get_args(Arm)),
    "memory_votes": _one_of("effect", get_args(Effect)),
    "memory_forgotten": lambda _: "",
}
