"""A benchmark as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.cli.format_text import clipped, duration, padded

if TYPE_CHECKING:
    from milepost.benchmarks import TaskReport


def result_line(result: TaskReport, width: int) -> str:
    """The line that stays when a task is over."""
    why = "" if result.success else f"  {result.reason}"
    return clipped(f"  {padded(result.id, 26)} {result.ending:<10} {duration(result.duration_ms)}{why}", width)


def bench_lines(rows: list[tuple[str, ...]], width: int) -> list[str]:
    """The rows in columns, the sums apart."""
    columns = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    lines = [
        clipped("  ".join((*(padded(word, size) for word, size in zip(row, columns, strict=False)), row[-1])), width)
        for row in rows
    ]
    return [*lines[:-1], "", lines[-1]]
