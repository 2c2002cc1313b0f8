"""What came of running code, as a person and as a program read it."""

from __future__ import annotations

from typing import Any

from milepost.core.commands import ExecutionResult


def exec_lines(result: ExecutionResult) -> list[str]:
    """What is to be said beside the output itself."""
    lines = []
    if result.is_final:
        lines.append(f"final answer: {result.final_value!r}")
    if result.error:
        lines.append(f"error: {result.error}")
    return lines


def result_to_json(result: ExecutionResult) -> dict[str, Any]:
    names = ("output", "error", "timeout", "final_value", "duration_ms", "memory_used_bytes", "termination")
    return {name: getattr(result, name) for name in names} | {"enforced": list(result.enforced)}
