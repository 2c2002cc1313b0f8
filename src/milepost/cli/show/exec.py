"""What came of running code, as a person and as a program read it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import counted, safe

if TYPE_CHECKING:
    from milepost import ExecutionResult
    from milepost.executors import PathChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Changes to a workspace that were held back, with their diff where it is asked for, and what became of them."""

    changes: tuple[PathChange, ...]
    diff: str
    accepted: bool
    refused: tuple[PathChange, ...] = ()


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
    lines += [f"blocked by the sandbox: {what}" for what in result.refused]
    if result.truncated:
        lines.append("the output was too long: part of it is not shown")
    return [safe(line) for line in lines]


def change_lines(held: Held, result: ExecutionResult) -> list[str]:
    """What was changed in the workspace, what became of it, and what to do about that."""
    if result.termination != "exited":
        return ["its changes to the workspace were discarded"]
    if not held.changes:
        return []
    lines = [safe(f"{change.kind} {change.path}{f' → {change.to}' if change.to else ''}") for change in held.changes]
    if held.accepted:
        return [*lines, *_not_accepted(held.refused), f"accepted {counted(len(lines) - len(held.refused), 'change')}"]
    many = counted(len(lines), "change")
    look = "" if held.diff else ", --diff shows them"
    return [*lines, f"discarded {many}: --accept applies them to the workspace{look}"]


def _not_accepted(refused: tuple[PathChange, ...]) -> list[str]:
    if not refused:
        return []
    more = f" and {counted(len(refused) - 1, 'more change')}" if len(refused) > 1 else ""
    return [safe(f"not accepted: {refused[0].path}{more}: code in the sandbox never changes .git or .milepost")]


def held_to_json(held: Held) -> dict[str, Any]:
    changes = [{"path": str(change.path), "kind": change.kind} for change in held.changes]
    told: dict[str, Any] = {"changes": changes, "accepted": held.accepted}
    if held.refused:
        told["not_accepted"] = [str(change.path) for change in held.refused]
    return told | ({"diff": held.diff} if held.diff else {})


def result_to_json(result: ExecutionResult) -> dict[str, Any]:
    names = (
        *("output", "truncated", "error", "timeout", "final_value", "verified_by"),
        *("duration_ms", "memory_used_bytes", "termination", "forged"),
    )
    facts = {name: getattr(result, name) for name in names}
    return facts | {"enforced": list(result.enforced), "refused": list(result.refused)}
