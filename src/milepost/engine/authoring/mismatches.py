"""Where a roadmap, the history and the database say different things, and who is right. Pure.

A milepost in the branch is the truth: its task is done, and one that was taken back is open. What nobody proved stays
as its author has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from milepost.core.task import Task
from milepost.workspace.mileposts import Milepost

MismatchKind = Literal["ticked", "opened", "renamed", "by hand", "gone", "no box", "lost", "not merged", "not over"]

_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One thing that did not agree: what was done about it, or what can be."""

    kind: MismatchKind
    what: str
    task: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadmapFacts:
    """What is known of a roadmap beside itself.

    `landed` are the mileposts of the branch, newest first; `taken_back` those that were undone, with the undoing
    commits; `names` is what the tasks of all these are called now, by commit and task, and `alike` those of them that
    are known by likeness alone, which no box is changed for; `boxes` the ids of tasks that
    have something to tick. `parents` says that a task above others is done with the last of them.
    """

    tasks: tuple[Task, ...]
    landed: tuple[Milepost, ...]
    taken_back: tuple[tuple[Milepost, str], ...]
    names: Mapping[tuple[str, str], str]
    alike: frozenset[tuple[str, str]]
    boxes: frozenset[str]
    parents: bool = True


def mismatches(facts: RoadmapFacts) -> tuple[Mismatch, ...]:
    """All that the roadmap and the branch do not agree on, in the order of the roadmap."""
    everyone = {one.id: one for top in facts.tasks for one in top.walk()}
    proofs = _newest(facts, facts.landed)
    undone = {name: by for post, by in reversed(facts.taken_back) for name in _names(facts, post)}
    found = [_about(everyone[name], proofs.get(name), undone.get(name, ""), facts.boxes) for name in everyone]
    return (
        *(one for one in found if one is not None),
        *(_closed(facts, frozenset(proofs)) if facts.parents else ()),
        *_renamed(facts, everyone),
        *_by_hand(facts.tasks, frozenset(proofs) | {facts.names[one] for one in facts.alike}),
        *_gone(facts),
    )


def _about(task: Task, proof: Milepost | None, undone: str, boxes: frozenset[str]) -> Mismatch | None:
    if proof is not None and task.status == "open":
        what = f"its milepost {proof.commit[:7]} is in the branch"
        if task.id in boxes:
            return Mismatch(kind="ticked", what=what, task=task.id, title=task.title)
        what = f"{what}, but the roadmap has no box for it"
        return Mismatch(kind="no box", what=what, task=task.id, title=task.title)
    if proof is None and undone and task.status == "done" and task.id in boxes:
        return Mismatch(kind="opened", what=f"it was undone by {undone[:7]}", task=task.id, title=task.title)
    return None


def _closed(facts: RoadmapFacts, proven: frozenset[str]) -> Iterator[Mismatch]:
    """The open tasks with a box, above others of which all are done, and some proven."""
    for task in (one for top in facts.tasks for one in top.walk() if one.id in facts.boxes):
        below = [one for part in task.subtasks for one in part.walk()]
        done = all(one.status == "done" or one.id in proven for one in below)
        if task.status == "open" and task.id not in proven and done and any(one.id in proven for one in below):
            yield Mismatch(kind="ticked", what="everything below it is done", task=task.id, title=task.title)


def _newest(facts: RoadmapFacts, posts: Sequence[Milepost]) -> dict[str, Milepost]:
    return {name: post for post in reversed(posts) for name in _names(facts, post)}


def _names(facts: RoadmapFacts, post: Milepost) -> tuple[str, ...]:
    """What the tasks of a milepost surely are called now, as far as they are on the roadmap."""
    known = (task for task in post.tasks if (post.commit, task) not in facts.alike)
    return tuple(name for task in known if (name := facts.names.get((post.commit, task))))


def _renamed(facts: RoadmapFacts, everyone: Mapping[str, Task]) -> list[Mismatch]:
    found: dict[str, Mismatch] = {}
    for post in facts.landed:
        for task in post.tasks:
            name = facts.names.get((post.commit, task), "")
            if name and name.lower() != task.lower() and name not in found:
                what = f"was {task} when it got its milepost {post.commit[:7]}"
                found[name] = Mismatch(kind="renamed", what=what, task=name, title=everyone[name].title)
    return list(found.values())


def _by_hand(tasks: Sequence[Task], proven: frozenset[str]) -> list[Mismatch]:
    """What is ticked without a proof: neither it nor all below it, nor anything that it is a part of, has one."""
    names = [task.id for task in tasks if task.status == "done" and proven.isdisjoint(one.id for one in task.walk())]
    if not names:
        return []
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    have = "task is ticked and has" if len(names) == 1 else "tasks are ticked and have"
    what = f"{len(names)} {have} no milepost, so there is no proof: {', '.join(names[:_SHOWN])}{more}"
    return [Mismatch(kind="by hand", what=what)]


def _gone(facts: RoadmapFacts) -> list[Mismatch]:
    gone = [(task, post) for post in facts.landed for task in post.tasks if (post.commit, task) not in facts.names]
    if not gone:
        return []
    names = ", ".join(f"{task} ({post.commit[:7]})" for task, post in gone[:_SHOWN])
    more = f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
    return [Mismatch(kind="gone", what=f"done, but no longer on the roadmap: {names}{more}")]
