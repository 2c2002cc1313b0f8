"""Which rows from outside are let in: only what this program could have written itself.

Others write to a primary, and an export may be forged. A row is held against its table: its columns, their lengths,
its digest, and its body, which has to say the same as the columns beside it. What a row tells is not believed by that:
it only is one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from typing import Any, get_args

from pydantic import TypeAdapter

from milepost.core.memories import Arm, Effect, EpisodeStart, EpisodeStep, Lesson, LessonState
from milepost.memory.store.as_json import dump, load
from milepost.memory.store.columns import EndedEpisode, of_end, of_lesson, of_start, of_step
from milepost.memory.store.names import flaw_in_name
from milepost.memory.store.rows import digest_of
from milepost.memory.sync.tables import COLUMNS, Line
from milepost.memory.transfer.forgotten_rows import KINDS
from milepost.store.dialect import LONGEST_KEY, kept

LONGEST_TEXT = 10_000  # signs of a column that is not a key
LONGEST_BODY = 12_000_000  # signs; an episode is at most 10 MB
MOST = 2**53  # of any number: beyond it some databases round
# What is found by an index is bounded by what a server can find.
_KEYS = ("id", "episode", "lesson", "project", "run", "task", "kind", "digest")


def admissible(table: str, row: Line) -> str:
    """Why a row cannot be one of this table; empty where it can."""
    if table not in COLUMNS:
        return "there is no such table"
    if row.keys() != COLUMNS[table].keys():
        return f"its columns are not those of {table}"
    flaws = (flaw_of(name, kind, row[name]) for name, kind in COLUMNS[table].items())
    if flaw := next(filter(None, flaws), ""):
        return flaw
    if row["digest"] != digest_of(row):
        return "its digest does not match: it was changed or damaged"
    return _SAYS[table](row)


def flaw_of(name: str, kind: str, value: object) -> str:
    """Why a column of this kind cannot hold a value."""
    if kind != "text":
        wanted = int if kind == "bigint" else (int, float)
        if isinstance(value, bool) or not isinstance(value, wanted):
            return f"{name} is not a number"
        fits = math.isfinite(value) and abs(value) <= MOST and (value >= 0 or name == "reward")
        return "" if fits else f"{name} is out of bounds"
    if not isinstance(value, str):
        return f"{name} is not text"
    if len(value) > (LONGEST_BODY if name == "body" else LONGEST_KEY if name in _KEYS else LONGEST_TEXT):
        return f"{name} is too long"
    return flaw_in_name(name, value) if kept(value) == value else f"{name} contains an invalid character"


def _of_body(kind: type[Any], columns: Callable[[Any], Line]) -> Callable[[Line], str]:
    def says(row: Line) -> str:
        try:
            value = load(kind, row["body"])
            if not _is_within(json.loads(row["body"]), json.loads(dump(value))):
                return "its body contains something that this version does not know"
        except (ValueError, RecursionError):  # pydantic's errors are ValueErrors
            return "its body cannot be read"
        if isinstance(value, Lesson) and (flaw := flaw_in_name("task", value.task)):
            return flaw
        told = columns(value)
        return (
            "" if all(row[name] == kept(text) for name, text in told.items()) else "its body does not match its columns"
        )

    return says


def _is_within(given: Any, known: Any) -> bool:
    """Whether all that is given is known; what has a default may be left out."""
    if isinstance(given, dict) and isinstance(known, dict):
        return all(name in known and _is_within(value, known[name]) for name, value in given.items())
    if isinstance(given, list) and isinstance(known, list):
        return len(given) == len(known) and all(map(_is_within, given, known))
    return bool(given == known)


def _one_of(name: str, known: tuple[str, ...]) -> Callable[[Line], str]:
    return lambda row: "" if row[name] in known else f"{name} is not one of {', '.join(known)}"


_SAYS: dict[str, Callable[[Line], str]] = {
    "memory_episodes": _of_body(EpisodeStart, of_start),
    "memory_steps": _of_body(EpisodeStep, of_step),
    "memory_endings": _of_body(EndedEpisode, of_end),
    "memory_lessons": _of_body(Lesson, of_lesson),
    "memory_supports": lambda _: "",
    "memory_states": _one_of("state", get_args(LessonState)),
    "memory_showings": _one_of("arm", get_args(Arm)),
    "memory_votes": _one_of("effect", get_args(Effect)),
    "memory_forgotten": _one_of("kind", KINDS),
}


def shape() -> str:
    """What rows this version lets in, in a few signs: another one of them may let in what an earlier one refused."""
    schemas = [TypeAdapter(kind).json_schema() for kind in (EpisodeStart, EpisodeStep, EndedEpisode, Lesson)]
    return hashlib.sha256(json.dumps([COLUMNS, schemas], sort_keys=True).encode()).hexdigest()[:16]
