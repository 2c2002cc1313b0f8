"""What came of running code, as a person and as a program read it."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from milepost.cli.words import safe

if TYPE_CHECKING:
    from milepost import ExecutionResult


_SUFFIXES = {
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), "javascript"),
}


def lang_of(file: str) -> str:
    """The language of a file by its name; Python unless the name says otherwise."""
    return _SUFFIXES.get(PurePath(file).suffix, "python")


def exec_lines(result: ExecutionResult) -> list[str]:
    """What is to be said beside the output itself."""
    lines = []
    if result.is_final:
        lines.append(f"final answer: {result.final_value!r}")
    elif result.final_value is not None:
        lines.append(f"value: {result.final_value!r}")
    if result.error:
        lines += f"error: {result.error}".splitlines()
    return [safe(line) for line in lines]


def result_to_json(result: ExecutionResult) -> dict[str, Any]:
    names = (
        *("output", "truncated", "error", "timeout", "final_value", "verified_by"),
        *("duration_ms", "memory_used_bytes", "termination"),
    )
    facts = {name: getattr(result, name) for name in names}
    return facts | {"enforced": list(result.enforced), "refused": list(result.refused)}
