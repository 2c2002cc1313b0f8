"""When two rows of one key say the same: then it does not matter which of them is kept, else they have diverged.

When something was noted, and by which process, may differ: two machines learn the same lesson, one after the other, and
an attempt that is taken over by another machine begins again. What may not differ is what happened, what is learnt and
what came of it.
"""

from __future__ import annotations

import json
from typing import Any

from milepost.memory.sync.tables import Line

# What counts of each row beside its key; of a body, all but what is left out here.
_COUNTS: dict[str, tuple[str, ...]] = {
    "memory_showings": ("arm",),
    "memory_votes": ("effect",),
}
_LEFT_OUT: dict[str, tuple[str, ...]] = {
    "memory_episodes": ("started_at", "owner"),
    "memory_steps": ("at",),
    "memory_lessons": ("made_at", "source", "task"),
}


def say_the_same(table: str, here: Line, there: Line) -> bool:
    """Whether two rows that have the same key also agree in all that counts."""
    return bool(_what_counts(table, here) == _what_counts(table, there))


def _what_counts(table: str, row: Line) -> Any:
    if "body" not in row:
        return [row[name] for name in _COUNTS.get(table, ())]
    body = json.loads(row["body"])
    if table == "memory_endings":  # what is computed from an end is another thing in another version
        return [row["project"], {name: value for name, value in body["end"].items() if name != "ended_at"}]
    return {name: value for name, value in body.items() if name not in _LEFT_OUT[table]}
