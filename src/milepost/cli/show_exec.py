"""What came of running code, as a person and as a program read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.cli.words import safe

if TYPE_CHECKING:
    from milepost import ExecutionResult


def exec_lines(result: ExecutionResult) -> list[str]:
    """What is to be said beside the output itself."""
    lines = []
    if result.is_final:
        lines.append(f"final answer: {result.final_value!r}")
    if result.error:
        lines += f"error: {result.error}".splitlines()
    return [safe(line) for line in lines]


def result_to_json(result: ExecutionResult) -> dict[str, Any]:
    names = (
        *("output", "truncated", "error", "timeout", "final_value", "verified_by"),
        *("duration_ms", "memory_used_bytes", "termination"),
    )
    return {name: getattr(result, name) for name in names} | {"enforced": list(result.enforced)}
