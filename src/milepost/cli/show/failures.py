"""What fails here, as a person and as a program read it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import clipped, padded

if TYPE_CHECKING:
    from milepost.runs import FailureStats

SHOWN = 30


def failure_lines(found: tuple[FailureStats, ...], width: int) -> list[str]:
    """A line for each kind of failure, the most frequent first, and what mended it."""
    if not found:
        return ["nothing has failed here yet"]
    lines = [f"{'times':>5}  {padded('class', 26)} {padded('last seen', 11)} what, and what fixed it"]
    for one in found[:SHOWN]:
        day = time.strftime("%Y-%m-%d", time.localtime(one.last_seen))
        lines.append(clipped(f"{one.count:>5}  {padded(one.kind.value, 26)} {padded(day, 11)} {one.example}", width))
        mended = ", ".join(f"{name} ({times})" for name, times in one.mended_by)
        lines.append(clipped(f"{'':46}{f'fixed by {mended}' if mended else 'not fixed yet'}", width))
    return [*lines, *([f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else [])]


def failure_to_json(one: FailureStats) -> dict[str, Any]:
    return {
        "class": one.kind.value,
        "signature": one.signature,
        "count": one.count,
        "last_seen": one.last_seen,
        "example": one.example,
        "mended_by": [{"by": name, "times": times} for name, times in one.mended_by],
    }
