"""Work that its owner may take as it is, and what became of what they took."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import clipped, counted, wrapped
from milepost.cli.named_roadmap import proposed
from milepost.cli.show.gates import shown_lines, visible

if TYPE_CHECKING:
    from milepost.gates import Acceptable, AcceptedWork, LandedWork


def acceptable_lines(found: tuple[Acceptable, ...], width: int) -> list[str]:
    """All that may be taken, each with its question, its change and the command."""
    if not found:
        return ["nothing waits to be accepted"]
    lines = [f"{counted(len(found), 'task')} can be accepted, not verified"]
    for one in found:
        yes = shlex.join(["milepost", "accept", one.task])
        lines += ["", *work_lines(one, width), f"  take it   {proposed(yes)}"]
    return lines


def work_lines(one: Acceptable, width: int) -> list[str]:
    """One work: what is asked about it, and the change."""
    return [
        clipped(f"{one.task}  {one.title} · {one.verdict} · attempt {one.attempt} of run {one.run}", width),
        *(line for text in one.question.splitlines() for line in wrapped(visible(text), width, indent=2)),
        *shown_lines(one.shown, width, more=proposed(f"milepost diff {one.task}#{one.attempt}")),
    ]


def accepted_lines(taken: AcceptedWork) -> list[str]:
    """What became of work that its owner took."""
    if taken.landed is None:
        return [
            f"{taken.task} of run {taken.run} · accepted by {visible(taken.by)}, not verified",
            proposed("the run lands it; if it is not running: milepost resume"),
        ]
    return landed_lines(taken.task, taken.landed)


def landed_lines(task: str, landed: LandedWork) -> list[str]:
    """The milepost that came of an answer, and where it is."""
    again = ", checked again on top of what landed since" if landed.verified_again else ""
    lines = [f"✓ {task}  {landed.commit[:7]}  {visible(landed.verdict)}{again}"]
    if landed.branch:
        return [*lines, f"{visible(landed.branch)} fast-forwarded to {landed.commit[:7]}"]
    return [*lines, f"your branch was not changed; to merge the milepost:   {landed.by_hand}"]


def acceptable_to_json(one: Acceptable) -> dict[str, Any]:
    return asdict(one)


def accepted_to_json(taken: AcceptedWork) -> dict[str, Any]:
    return asdict(taken)
