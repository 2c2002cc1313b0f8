"""Attempts, what was taken back, what was brought back and marks, as a person and as a program read them."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import clipped, counted, duration, mark, money, padded, safe, short_agent
from milepost.cli.named_roadmap import proposed
from milepost.cli.show.log import milepost_to_json

if TYPE_CHECKING:
    from milepost.attempts import Tried
    from milepost.history import Mark, Restored, Undone

_FILES_SHOWN = 3


def attempt_lines(found: tuple[Tried, ...], width: int) -> list[str]:
    """A line for each attempt: by whom, how it ended, what it took, and why."""
    runs = tuple(dict.fromkeys(one.run for one in found))
    lines = [f"{found[0].task} · {counted(len(found), 'attempt')} in {counted(len(runs), 'run')}"]
    wide = max(len(one.name) for one in found)
    for run in runs:
        lines += ["", f"run {run}"]
        for one in (one for one in found if one.run == run):
            facts = [one.verdict.value, short_agent(one.agent), duration(one.duration_ms), money(one.cost_usd)]
            if one.milepost:
                facts.append(f"milepost {one.milepost[:7]}")
            else:
                facts.append(one.commit[:7] if one.kept else "its files were deleted")
            lines.append(
                clipped(
                    f"{mark(one.verdict.value)} {padded(one.name, wide)}  " + " · ".join(filter(None, facts)), width
                )
            )
            if one.reason:
                lines.append(clipped(f"  {'':<{wide}}  {one.reason.splitlines()[0]}", width))
    last = next((one for one in reversed(found) if one.kept), None)
    if last is not None:
        name = shlex.quote(last.name) if " " in last.name else last.name
        shown, back = proposed(f"milepost diff {name}"), proposed(f"milepost restore FILE --from {name}")
        lines += ["", f"next   {shown:<{len(back)}}   what it changed", f"       {back}   restores a file from it"]
    return lines


def tried_to_json(one: Tried) -> dict[str, Any]:
    return asdict(one) | {"verdict": one.verdict.value}


def undone_lines(undone: Undone, to: str, width: int) -> list[str]:
    """What was taken back, newest first, and what is open again."""
    made = undone.taken_back
    if not made:
        return [safe(f"nothing to undo: no milepost on {undone.branch} is newer than {to}")]
    lines = []
    if undone.dry_run:
        what = "1 milepost" if len(made) == 1 else f"{len(made)} mileposts, newest first"
        after = f", everything after {to}" if to else ""
        lines.append(safe(f"would undo on {undone.branch}: {what}{after}; nothing was changed"))
    for one in made:
        post = one.milepost
        why = f" ({one.because})" if one.because and not to else ""
        if undone.dry_run:
            lines.append(clipped(f"  {post.commit[:7]}  {post.task}  {post.title}{why}", width))
        else:
            took_back = f"{one.commit[:7]} on {undone.branch} reverts {post.commit[:7]}"
            opened = "is open again" if post.task in one.boxes else "is undone"
            lines.append(clipped(f"{post.task} {opened}: {took_back}{why}", width))
        if undone.dry_run or len(made) == 1:
            lines += _changed(one.files, one.boxes, width)
    if not undone.dry_run:
        lines.append(proposed("next   milepost run   does it again"))
    return lines


def _changed(files: tuple[str, ...], boxes: tuple[str, ...], width: int) -> list[str]:
    shown = ", ".join(files[:_FILES_SHOWN]) + (
        f" and {len(files) - _FILES_SHOWN} more" if len(files) > _FILES_SHOWN else ""
    )
    lines = [clipped(f"           files  {shown or 'none'}", width)]
    return lines + ([clipped(f"           boxes  {', '.join(boxes)}", width)] if boxes else [])


def undone_to_json(undone: Undone) -> dict[str, Any]:
    return {
        "branch": undone.branch,
        "dry_run": undone.dry_run,
        "taken_back": [
            {
                **milepost_to_json(one.milepost),
                "undo": None if undone.dry_run else one.commit,
                "files": list(one.files),
                "boxes": list(one.boxes),
                "because": one.because,
            }
            for one in undone.taken_back
        ],
    }


def restored_lines(restored: Restored, width: int) -> list[str]:
    """What was written, and how to keep it or get rid of it."""
    place = f"{restored.place} ({restored.commit[:7]})" if restored.place != restored.commit else restored.commit[:7]
    lines = [clipped(f"{file}  as {place} has it", width) for file in restored.files]
    return [*lines, "nothing is committed: git diff shows what changed, git commit keeps it"]


def restored_to_json(restored: Restored) -> dict[str, Any]:
    return {"place": restored.place, "commit": restored.commit, "files": list(restored.files)}


def mark_line(one: Mark) -> str:
    where = f"the milepost of {one.task}" if one.task else one.subject
    return safe(f"{one.name} · {one.commit[:7]}  {where}")


def marks_lines(found: tuple[Mark, ...], width: int) -> list[str]:
    """A line for each mark."""
    if not found:
        return ["there are no marks yet", "next   milepost mark NAME   names the current commit"]
    wide = max(len(one.name) for one in found)
    return [
        clipped(f"{padded(one.name, wide)}  {one.commit[:7]}  {padded(one.task or '–', 6)}  {one.subject}", width)
        for one in found
    ]


def mark_to_json(one: Mark) -> dict[str, Any]:
    return asdict(one)
