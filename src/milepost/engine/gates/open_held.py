"""Which questions about held work are open: of which tasks of the roadmap, also when their run is over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.task import Task
from milepost.engine.planning.make_plan import ended_for, read_now, settled
from milepost.engine.project.project import Project
from milepost.engine.records.gates import Gate, Gates
from milepost.engine.records.held_work import HeldWork, HeldWorks
from milepost.engine.records.journal import Journal, RunRecord
from milepost.workspace.mileposts import Mileposts


def open_held(project: Project, journal: Journal) -> tuple[Gate, ...]:
    """The open questions about held work of runs that are over, oldest first.

    One that was answered with yes, and whose work never landed because its run ended just then, is open, too.
    """
    records = {record.run: record for record in journal.runs()}
    over = [gate for gate in _asked(project, journal) if not records[gate.run].unfinished]
    works = {gate.gate: work for gate in over if (work := HeldWorks(journal.database).find(gate.run, gate.task))}
    owners = owners_of(works.values(), tasks_now(project)) if works else {}
    landing = cut_short(project, works.values(), owners, records)
    return tuple(
        replace(gate, answer=None, answered_at=None, text="", answered_by="", over=True)
        for gate in over
        if (gate.task in owners and not _landed(records[gate.run], gate.task)) or gate.task in landing
    )


def held_tasks(project: Project, journal: Journal, tasks: Iterable[Task]) -> tuple[str, ...]:
    """The tasks of a plan that a new run leaves alone: a person was asked about their work, and has not answered."""
    gates = [gate for gate in _asked(project, journal) if gate.answer is None]
    works = [work for gate in gates if (work := HeldWorks(journal.database).find(gate.run, gate.task))]
    return tuple(dict.fromkeys(owners_of(works, tuple(tasks)).values()))


def tasks_now(project: Project) -> tuple[Task, ...]:
    """The tasks of the roadmap as the user's file has them."""
    return settled(read_now(project), ended_for(project)).tasks


def owners_of(works: Iterable[HeldWork], tasks: tuple[Task, ...]) -> Mapping[str, str]:
    """The open task that each work is about, by the work's own: that very task as it was, or what it is a part of."""
    tops = {task.id: (top.id, task) for top in tasks for task in top.walk() if task.status == "open"}
    found: dict[str, str] = {}
    for work in works:
        known = tops.get(work.task.id) or tops.get(work.task.id.rpartition(".")[0])
        if known is None:
            continue
        top, now = known
        if now.id != work.task.id or now.title == work.task.title or work.task.members:
            found[work.task.id] = top
    return found


def cut_short(
    project: Project, works: Iterable[HeldWork], owners: Mapping[str, str], records: Mapping[str, RunRecord]
) -> frozenset[str]:
    """The tasks that are done because their held work landed, where nobody came to write that down."""
    rest = [work for work in works if work.task.id not in owners and not _landed(records[work.run], work.task.id)]
    if not rest:
        return frozenset()
    with TemporaryDirectory() as own:
        mileposts = Mileposts(project.repository.git(Path(own)))
        posts = mileposts.history(project.repository.position().commit)
    made = {(post.task, post.run) for post in posts}
    return frozenset(work.task.id for work in rest if (work.task.id, work.run) in made)


def _asked(project: Project, journal: Journal) -> tuple[Gate, ...]:
    """What was asked about the newest work at each task of this roadmap, and not refused since."""
    ours = {record.run for record in journal.runs() if record.order.get("roadmap") == project.roadmap_in_tree}
    asked = (gate for gate in Gates(journal.database).held() if gate.answer in (None, "approve", "accept"))
    return tuple(gate for gate in asked if gate.run in ours and journal.last_run_of(gate.task) == gate.run)


def _landed(record: RunRecord, task: str) -> bool:
    ends = record.summary.tasks if record.summary is not None else ()
    return any(end.id == task and end.commit for end in ends)
