"""The end of a pact: the check that all can move, the decision, the moves, and the mark when all are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from milepost.core.errors import MarkInvalid, MilepostError
from milepost.engine.project.project import Project
from milepost.engine.projects.atomic_record import Agreement, Member, drop, keep
from milepost.engine.projects.parallel import LegEnd
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_request import NothingToDo
from milepost.engine.records.values_json import dump
from milepost.engine.run.move_branch import Branch, Obstacle
from milepost.engine.views.revisions import MARKS
from milepost.store.kill_points import reached
from milepost.workspace.mileposts import Mileposts, run_branch

Projects = Mapping[str, Project]  # by the names that they have together, outermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberEnding:
    """How it ended for one project: `arrived` when its mileposts are in the user's branch.

    Otherwise `why` says what it lacks, and `command`, once all is decided, how its user takes them in.
    """

    name: str
    roadmap: str
    branch: str = ""
    run: str = ""
    head: str = ""
    arrived: bool = False
    why: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherEnding:
    """How it ended for all of them. `stopped` when somebody interrupted it."""

    id: str
    mark: str
    members: tuple[MemberEnding, ...]
    decided: bool = False
    stopped: bool = False

    @property
    def complete(self) -> bool:
        """True when every project has its mileposts, and the mark."""
        return self.decided and all(member.arrived for member in self.members)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Say of which project it is that something is wrong."""
    try:
        yield
    except MilepostError as error:
        error.message = f"{name}: {error.message}"
        error.args = (error.message,)
        raise


def arrive(
    pact: Agreement, projects: Projects, ends: Mapping[str, LegEnd], done: Mapping[str, Member]
) -> TogetherEnding | NothingToDo:
    """Decide that all move, when all can, and move them; `done` are those that had nothing to do."""
    came_to = {name: done[name] if name in done else _came_to(name, projects[name], ends[name]) for name in projects}
    lacking = {name: end.why or "its run was not started" for name, end in ends.items() if end.why or not end.finished}
    if lacking:
        return _undecided(pact, came_to, lacking, stopped=any(end.stopped for end in ends.values()))
    members = tuple(came_to.values())
    with _locked(projects, members) as branches:
        obstacles = {name: branch.obstacle() for name, branch in branches.items()}
        in_the_way = {name: one.why for name, one in obstacles.items() if one is not None}
        if in_the_way:
            return _undecided(pact, came_to, in_the_way)
        if not pact.named and not any(member.run for member in members):
            drop(pact)
            return NothingToDo(reason="all tasks of all projects are done and merged")
        decided = replace(pact, decided=True, members=members)
        keep(decided)
        return _fulfil(decided, branches)


def finish(pact: Agreement, projects: Projects) -> TogetherEnding:
    """Do what was decided before: all of it that is not done yet."""
    with _locked(projects, pact.members) as branches:
        keep(pact)
        return _fulfil(pact, branches)


def _fulfil(pact: Agreement, branches: Mapping[str, Branch]) -> TogetherEnding:
    """Move every branch; when all are there, set the mark in every project, and forget the pact."""
    endings = []
    for member in pact.members:
        obstacle = branches[member.name].move()
        if obstacle is None:
            _note_arrival(branches[member.name], member)
        endings.append(_ending(member, obstacle))
        reached(f"together/{pact.id}/moved/{member.name}")
    ending = TogetherEnding(id=pact.id, mark=pact.mark, members=tuple(endings), decided=True)
    if ending.complete:
        for member in pact.members:
            with naming(member.name):
                _set_mark(branches[member.name].mileposts, pact.mark, member.head)
            reached(f"together/{pact.id}/marked/{member.name}")
        drop(pact)
    return ending


def to_json(ending: TogetherEnding | NothingToDo) -> dict[str, Any]:
    """How it ended, as the command line prints it for machines."""
    if isinstance(ending, NothingToDo):
        return {"event": "nothing_to_do", "reason": ending.reason}
    return {"event": "together_finished", "complete": ending.complete, **dump(ending)}


@contextmanager
def _locked(projects: Projects, members: tuple[Member, ...]) -> Iterator[dict[str, Branch]]:
    """The branches that are to move, while no engine works on any of their projects."""
    with ExitStack() as stack:
        branches = {}
        for member in members:
            project = _of(projects, member)
            with naming(member.name):
                lock = stack.enter_context(project.lock())
            branches[member.name] = Branch(
                project=project,
                git=project.repository.git(project.state / "git", (lock.fd,)),
                name=member.branch,
                head=member.head,
                head_name=run_branch(member.run).removeprefix("refs/heads/") if member.run else member.head[:12],
                held_fds=(lock.fd,),
            )
        yield branches


def _of(projects: Projects, member: Member) -> Project:
    return next(project for project in projects.values() if str(project.roadmap) == member.roadmap)


def _came_to(name: str, project: Project, end: LegEnd) -> Member:
    """Where a project's run led: the user's branch that it started from, and the commit that this is to move to."""
    member = Member(name=name, roadmap=str(project.roadmap))
    if end.finished is None:
        return member
    with Journal.look(project.database) as journal:
        record = next(one for one in journal.runs() if one.run == end.finished.run)
    branch = str(record.order["user"]["branch"])
    return replace(member, branch=branch, run=end.finished.run, head=end.finished.head)


def _note_arrival(branch: Branch, member: Member) -> None:
    """Let the records of the run, and of the held ones that it went on from, say that their mileposts were taken in."""
    if not member.run:
        return
    with Journal(branch.project.database) as journal:
        for record in journal.runs():
            if record.summary is None or record.summary.fast_forwarded or not record.order.get("held"):
                continue
            tip = branch.mileposts.resolve(run_branch(record.run))
            if record.run == member.run or (tip is not None and branch.mileposts.is_ancestor(tip, member.head)):
                taken_in = replace(record.summary, fast_forwarded=member.branch or "HEAD", by_hand="")
                journal.close_run(record.run, taken_in)


def _set_mark(mileposts: Mileposts, mark: str, head: str) -> None:
    there = mileposts.resolve(f"{MARKS}/{mark}")
    if there is None:
        mileposts.move(f"{MARKS}/{mark}", head, "")
    elif there != head:
        raise MarkInvalid(
            f"all branches are updated, but somebody set the mark {mark!r} at {there[:7]} meanwhile",
            f"delete it there: milepost mark {mark} --delete   then: milepost together --resume",
        )


def _undecided(
    pact: Agreement, came_to: Mapping[str, Member], why: Mapping[str, str], *, stopped: bool = False
) -> TogetherEnding:
    endings = (_ending(member, None, why.get(name, "")) for name, member in came_to.items())
    members = tuple(replace(ending, arrived=False) for ending in endings)
    return TogetherEnding(id=pact.id, mark=pact.mark, members=members, stopped=stopped)


def _ending(member: Member, obstacle: Obstacle | None, why: str = "") -> MemberEnding:
    return MemberEnding(
        name=member.name,
        roadmap=member.roadmap,
        branch=member.branch,
        run=member.run,
        head=member.head,
        arrived=obstacle is None,
        why=why if obstacle is None else obstacle.why,
        command="" if obstacle is None else obstacle.command,
    )
