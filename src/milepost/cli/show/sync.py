"""What a roadmap, git and the database did not agree on, as a person reads it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import hanging, padded, safe
from milepost.cli.named_roadmap import proposed

if TYPE_CHECKING:
    from milepost.roadmaps import Synced


def sync_lines(found: Synced, name: str, width: int) -> list[str]:
    """A line for each thing that did not agree, and what was done about it."""
    head = f"{safe(name)} · {found.branch} {found.commit[:7]}"
    if not found.mismatches:
        return [head, "the roadmap, git and the database agree"]
    wide = max(len(one.kind) for one in found.mismatches)
    lines = [head, ""]
    for one in found.mismatches:
        named = f"{one.task}  {one.title}".strip()
        what = proposed(one.what)
        text = f"{named}: {what}" if named else what
        lines += hanging(f"{padded(one.kind, wide)}  ", text, max(width, 72))
    lines.append("")
    if found.would:
        lines.append(found.would)
    elif found.changed:
        lines.append(f"{safe(name)} was changed: git diff shows the change, git commit keeps it")
    return lines if lines[-1] else lines[:-1]


def synced_to_json(found: Synced) -> dict[str, Any]:
    """The same for machines."""
    return {
        "branch": found.branch,
        "commit": found.commit,
        "changed": found.changed,
        "would": found.would,
        "mismatches": [asdict(one) for one in found.mismatches],
    }
