"""What waits for a person, each with the command that answers it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.engine.records.steering import halt_of, is_set_aside
from milepost.engine.report.facts import RunStory, Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonNeeded:
    """Something that only a person can do."""

    what: str
    command: str = ""


def waits_of(story: RunStory) -> tuple[PersonNeeded, ...]:
    """Questions first, then what a run needs to go on, then what is left to take in."""
    asking = {task.id: task.standing for task in story.standing("asking", "held", "unverified")}
    waits = [
        PersonNeeded(what=f"{gate.task}: {gate.question}", command=_answer(gate.task, asking[gate.task]))
        for gate in story.open_gates
        if gate.task in asking
    ]
    halt = halt_of(one.what for one in story.happenings if not one.task)
    if halt and story.state in ("running", "interrupted"):
        stopped = halt == "finishing" and story.state == "interrupted"
        what = "was stopped after the running tasks" if stopped else "starts nothing new"
        waits.append(PersonNeeded(what=f"run {story.run} {what}", command="milepost resume"))
    elif story.state == "interrupted" and not waits:
        waits.append(PersonNeeded(what=f"run {story.run} was interrupted", command="milepost resume"))
    if story.state == "left":
        waits.append(PersonNeeded(what=f"run {story.run} was abandoned for a new one", command="milepost status"))
    if story.by_hand:
        waits.append(PersonNeeded(what="your branch was not changed: merge the mileposts", command=story.by_hand))
    if story.state == "finished":
        for task in story.standing("waiting"):
            if not is_set_aside(None, task.reason):
                waits.append(PersonNeeded(what=f"{task.id} {task.title}: {task.reason or 'was not started'}"))
    return tuple(waits)


def _answer(task: str, standing: Standing) -> str:
    """The command that says yes; what could not be verified can only be accepted."""
    return f"milepost accept {task}" if standing == "unverified" else f"milepost approve {task}"
