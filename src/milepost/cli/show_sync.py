"""What a roadmap, git and the database did not agree on, as a person reads it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from milepost.cli.words import clipped, padded, safe

if TYPE_CHECKING:
    from milepost import Mismatch, Synced


def sync_lines(found: Synced, name: str, width: int) -> list[str]:
    """A line for each thing that did not agree, and what was done about it."""
    head = f"{safe(name)} · {found.branch} {found.commit[:7]}"
    if not found.mismatches:
        return [head, "the roadmap, git and the database agree"]
    wide = max(len(one.kind) for one in found.mismatches)
    lines = [head, "", *(clipped(_line(one, wide), max(width, 72)) for one in found.mismatches), ""]
    if found.would:
        lines.append(found.would)
    elif found.changed:
        lines.append(f"{safe(name)} was changed: git diff shows how, git commit keeps it")
    return lines if lines[-1] else lines[:-1]


def _line(one: Mismatch, wide: int) -> str:
    named = f"{one.task}  {one.title}".strip()
    return f"{padded(one.kind, wide)}  {safe(f'{named}: {one.what}' if named else one.what)}"


def synced_to_json(found: Synced) -> dict[str, Any]:
    """The same for machines."""
    return {
        "branch": found.branch,
        "commit": found.commit,
        "changed": found.changed,
        "would": found.would,
        "mismatches": [asdict(one) for one in found.mismatches],
    }
