"""What is remembered in figures, and what is found of it, as a person and as a program read it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from milepost.cli.format_amounts import minutes
from milepost.cli.format_text import clipped, counted, facts_lines, from_here, hanging, padded, safe
from milepost.cli.show.lift import lift_facts, lift_to_json

if TYPE_CHECKING:
    from milepost.memories import Found, MemoryStats, Recollection, Unsynced

ENDS = ("success", "partial", "failure", "abstained", "interrupted", "open")
STATES = ("active", "candidate", "quarantined", "retired")
SHORT = 12  # signs of an id that is listed: enough to be pasted into the next command


def stats_lines(found: MemoryStats, width: int) -> list[str]:
    """What there is, what it changed, and what of it others have not got yet."""
    if not found.is_there:
        return ["the memory is empty", "next   milepost run"]
    others = sorted(((count, name) for name, count in found.projects.items() if name != found.project), reverse=True)
    whose = f"{found.project} and {counted(len(others), 'other project')}" if others else found.project
    lines = [
        *facts_lines("memory of ", [whose, _place(found.place), size(found.size_bytes)], width),
        *([f"mode       {found.mode}"] if found.mode != "on" else []),
        "",
        *_counts("episodes", found.episodes, ENDS, width),
        *_counts("lessons", found.lessons, STATES, width),
        *facts_lines(
            "lift       ", [*(["of this project"] if others else []), *lift_facts(found.lift, found.holdout)], width
        ),
    ]
    if others:
        parts = [f"{count} of {name}" for count, name in others]
        ours = f"{counted(found.projects.get(found.project, 0), 'episode')} of this one"
        lines += facts_lines("projects   ", [ours, *parts], width)
    lines += facts_lines("sync       ", sync_facts(found.unsynced), width)
    return [*lines, "", "next   milepost memory list   the lessons that attempts are shown"]


def stats_to_json(found: MemoryStats) -> dict[str, Any]:
    return {
        "project": found.project,
        "place": found.place,
        "is_there": found.is_there,
        "mode": found.mode,
        "episodes": dict(found.episodes),
        "projects": dict(found.projects),
        "steps": found.steps,
        "lessons": dict(found.lessons),
        "votes": dict(found.votes),
        "lift": lift_to_json(found.lift),
        "holdout": found.holdout,
        "sync": sync_to_json(found.unsynced),
        "size_bytes": found.size_bytes,
    }


def sync_facts(found: Unsynced) -> list[str]:
    """What the primary was not told yet."""
    if not found.primary:
        return ["no primary: the memory stays on this machine"]
    facts = [f"{found.waiting} not yet synced", found.primary]
    if found.waiting and found.oldest_at is not None:
        facts.insert(1, f"the oldest for {minutes(max(0.0, time.time() - found.oldest_at))}")
    if found.diverged:
        facts.append(f"{counted(found.diverged, 'row')} diverged")
    if found.refused:
        facts.append(f"{counted(found.refused, 'row')} rejected")
    return [*facts, *([found.last_error] if found.last_error else [])]


def sync_to_json(found: Unsynced) -> dict[str, Any]:
    return {
        "primary": found.primary,
        "waiting": found.waiting,
        "oldest_at": found.oldest_at,
        "diverged": found.diverged,
        "refused": found.refused,
        "last_error": found.last_error,
    }


def found_lines(found: tuple[Found, ...], width: int) -> list[str]:
    """A line for each thing that was found, and why it was."""
    if not found:
        return ["no matches"]
    lines = []
    for one in found:
        head = f"{padded(one.id[:SHORT], SHORT)}  {padded(one.kind, 7)}  {padded(one.outcome, 11)}  {day(one.when)}"
        lines += [clipped(f"{head}  {first_line(one.title)}", width)]
        lines += [clipped(f"{'':<{SHORT}}  {one.why}", width)]
    return [*lines, "", f"next   milepost memory show {found[0].id[:SHORT]}"]


def found_to_json(one: Found) -> dict[str, Any]:
    from milepost import memories

    plain: dict[str, Any] = memories.to_json(one)
    return plain


def recalled_lines(found: Recollection, *, explain: bool, width: int) -> list[str]:
    """What an attempt would be told, and with `explain` why."""
    lines = [safe(line) for text in found.lines for line in text.splitlines()]
    if not lines:
        lines = ["no lessons: an attempt at this task would get none"]
    if explain:
        lines += ["", *(line for why in found.explanation for line in hanging("  ", why, width))]
    elif not found.lines:
        lines.append("next   add --explain to see why")
    return lines


def recalled_to_json(found: Recollection) -> dict[str, Any]:
    return {
        "lines": list(found.lines),
        "lessons": list(found.lessons),
        "explanation": list(found.explanation),
    }


def day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def size(count: int) -> str:
    """`340 B`, `12 kB`, `1.2 MB`."""
    for unit, sign in ((1_000_000, "MB"), (1_000, "kB")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + f" {sign}"
    return f"{count} B"


def first_line(text: str) -> str:
    """The first line of a text that says anything."""
    return next(iter(text.strip().splitlines()), "")


def _place(place: str) -> str:
    from pathlib import Path

    return from_here(Path(place)) if place.startswith("/") else place


def _counts(name: str, counts: Any, order: tuple[str, ...], width: int) -> list[str]:
    facts = [f"{counts[kind]} {kind}" for kind in order if counts.get(kind)]
    total = sum(counts.values())
    return facts_lines(f"{padded(name, 10)} ", [str(total), *facts] if total else ["none yet"], width)
