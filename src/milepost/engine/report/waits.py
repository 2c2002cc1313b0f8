"""What waits for a person, each with the command that answers it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.engine.report.facts import RunStory


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Something that only a person can do."""

    what: str
    command: str = ""


def waits_of(story: RunStory) -> tuple[Waiting, ...]:
    """Questions first, then what a run needs to go on, then what is left to take in."""
    waits = [
        Waiting(what=f"{gate.task}: {gate.question}", command=f"milepost approve {gate.task}")
        for gate in story.open_gates
    ]
    if story.state == "interrupted" and not waits:
        waits.append(Waiting(what=f"run {story.run} was interrupted", command="milepost resume"))
    if story.state == "left":
        waits.append(Waiting(what=f"run {story.run} was left for a new one", command="milepost status"))
    if story.by_hand:
        waits.append(Waiting(what="your branch was not touched: take the mileposts in", command=story.by_hand))
    if story.state == "finished":
        for task in story.standing("waiting"):
            waits.append(Waiting(what=f"{task.id} {task.title}: {task.reason or 'was not started'}"))
    return tuple(waits)
