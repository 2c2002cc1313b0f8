"""What came of looking after a memory: what was imported, forgotten, found wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.cli.words import counted, facts_lines, hanging

if TYPE_CHECKING:
    from milepost import Imported

_NOUNS = {
    "memory_episodes": "episode",
    "memory_steps": "step",
    "memory_lessons": "lesson",
}


def imported_lines(found: Imported, *, trusted: bool, width: int) -> list[str]:
    """What a file brought."""
    facts = [counted(count, _NOUNS[table]) for table, count in found.added.items() if table in _NOUNS]
    rest = [
        f"{found.known} known already" if found.known else "",
        f"{found.diverged} differ from what is here, which stays" if found.diverged else "",
        f"{found.not_counted} told of what counts nothing here" if found.not_counted else "",
    ]
    lines = facts_lines("added  ", facts or ["nothing"], width) + [line for line in rest if line]
    if not trusted and found.added:
        lines += hanging("", "nothing of it counts as verified here, and its lessons begin as candidates", width)
    for lesson, why in found.quarantined:
        lines += hanging(f"lesson {lesson} is quarantined: ", why, width)
    return lines


def imported_to_json(found: Imported) -> dict[str, Any]:
    return {
        "project": found.project,
        "added": {table.removeprefix("memory_"): count for table, count in found.added.items()},
        "known": found.known,
        "diverged": found.diverged,
        "not_counted": found.not_counted,
        "quarantined": [{"lesson": lesson, "why": why} for lesson, why in found.quarantined],
    }
