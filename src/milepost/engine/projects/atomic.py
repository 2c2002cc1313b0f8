"""Several projects worked on as one: all of them get their mileposts and one mark, or none does.

Each project has a run of its own, whose mileposts are held on its branch. When all are there, and every branch of the
user's can be moved, that is decided: written down in every project. Then the branches move, and then the mark is set.
Killed before the decision, nothing has moved; killed after it, the next call finishes.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.errors import MarkInvalid, Misuse, RunUnfinished, SettingInvalid, TogetherImpossible
from milepost.engine.gates.unfinished_run import unfinished
from milepost.engine.planning.find_projects import family_of
from milepost.engine.planning.make_plan import read_now
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import EVERYTHING, load
from milepost.engine.project.state_directory import make_state
from milepost.engine.project.state_lock import StateLock
from milepost.engine.projects.atomic_commit import Projects, TogetherEnding, arrive, finish, naming
from milepost.engine.projects.atomic_record import FOLDER, Agreement, Member, drop, keep, open_pacts
from milepost.engine.projects.budget_shares import SMALLEST_USD, left_of, share_out, took_since
from milepost.engine.projects.parallel import LegEnd, OnEvent, ProjectRun, travel_abreast
from milepost.engine.projects.start_order import ReadyRun, Succession, calls_of, legs_of, onward, plans_of
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_request import NothingToDo, RunRequest, command_of
from milepost.engine.records.unmerged_run import run_ahead
from milepost.engine.run.dry_run import preview
from milepost.engine.views.marks import name_problem
from milepost.engine.views.revisions import MARKS, mileposts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherWish:
    """What is asked of several projects at once; no roadmaps stand for those that this folder's was begun with."""

    roadmaps: tuple[Path, ...] = ()
    mark: str | None = None
    agent: str | None = None
    budget_usd: float | None = None
    new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomicStatus:
    """What a project has to do: tasks, or none, and then where it stands: its newest mileposts, taken in or not."""

    tasks: tuple[str, ...]
    done: Member | None


def together(wish: TogetherWish, on_event: OnEvent) -> TogetherEnding | NothingToDo:
    """Work on several roadmaps until all are done and taken in; goes on with what was begun or decided before."""
    roadmaps = wish.roadmaps or _begun_here()
    if not roadmaps:
        return NothingToDo(reason="this project is in no unfinished run with other projects")
    projects = find_projects(roadmaps)
    with alone(projects):
        pact, left = _agree(projects, wish)
        if pact.decided:
            return finish(pact, projects)
        outlooks = {name: _look_ahead(name, project, pact, new=wish.new) for name, project in projects.items()}
        succession = _succession(projects, new=wish.new)
        leg = _legs(projects, pact, outlooks, succession, new=wish.new)
        for one in left:
            drop(one)
        if any(one.done is None for one in outlooks.values()):
            keep(pact)
        travel_abreast(legs_of(succession, leg), on_event, onward(succession, leg))
        ends = {name: end for name, end in succession.ended().items() if outlooks[name].done is None}
        return arrive(pact, projects, ends, {name: one.done for name, one in outlooks.items() if one.done is not None})


def find_projects(roadmaps: tuple[Path, ...]) -> Projects:
    """The projects of some roadmaps by name, outermost first: one that is in another moves after it."""
    found = {project.roadmap: project for project in map(Project.find, roadmaps)}.values()
    if len(found) < 2:
        raise Misuse("milepost together needs two or more roadmaps", "for one, use milepost run")
    homes: dict[Path, Project] = {}
    for project in sorted(found, key=lambda one: (len(one.repository.top.parts), str(one.repository.top))):
        other = homes.setdefault(project.repository.common_dir.resolve(), project)
        if other is not project:
            raise Misuse(
                f"{str(other.roadmap)!r} and {str(project.roadmap)!r} are in the same repository",
                "it can take part only once; run one after the other: milepost run --workspace",
            )
    return dict(zip(_names(tuple(homes.values())), homes.values(), strict=True))


def _names(projects: tuple[Project, ...]) -> list[str]:
    """What projects are called here: as in their family, else by the folder of their repository."""
    family = family_of(projects[0].roadmap)
    known = [family.of_roadmap(str(one.roadmap)) if family is not None else None for one in projects]
    if all(known):
        return [one.name for one in known if one is not None]
    tops = [project.repository.top for project in projects]
    short = [top.name for top in tops]
    return [top.name if short.count(top.name) == 1 else str(top) for top in tops]


def _begun_here() -> tuple[Path, ...]:
    """The roadmaps that this folder's was begun together with, itself among them."""
    pacts = open_pacts(Project.find(None).roadmap)
    return tuple(Path(member.roadmap) for member in pacts[-1].members) if pacts else ()


@contextmanager
def alone(projects: Projects) -> Iterator[None]:
    """Be the only one who works on any of these projects together with others."""
    with ExitStack() as stack:
        for name, project in projects.items():
            with naming(name):
                make_state(project.state)
                stack.enter_context(StateLock(project.state / FOLDER))
        yield


def _agree(projects: Projects, wish: TogetherWish) -> tuple[Agreement, tuple[Agreement, ...]]:
    """The pact that is to be followed, and those that it leaves behind."""
    found = {pact.id: pact for project in projects.values() for pact in open_pacts(project.roadmap)}
    roadmaps = frozenset(str(project.roadmap) for project in projects.values())
    if wish.new or not found:
        return _new_pact(projects, wish), tuple(found.values())
    other = next((pact for pact in found.values() if pact.roadmaps != roadmaps), None)
    if other is not None:
        raise RunUnfinished(
            f"{other.names} have an unfinished run together",
            "milepost together --resume in one of them continues it; milepost together --new … abandons it",
        )
    pact = max(found.values(), key=lambda one: (one.decided, one.began_at))
    if wish.mark not in (None, pact.mark):
        raise RunUnfinished(
            f"{pact.names} have an unfinished run together with the mark {pact.mark!r}, not {wish.mark!r}",
            "milepost together --resume continues it; --new abandons it",
        )
    if pact.decided:
        return pact, ()
    agent = pact.agent if wish.agent is None else wish.agent
    budget = pact.budget_usd if wish.budget_usd is None else wish.budget_usd
    return replace(pact, agent=agent, budget_usd=budget), tuple(one for one in found.values() if one.id != pact.id)


def _new_pact(projects: Projects, wish: TogetherWish) -> Agreement:
    name = secrets.token_hex(2)
    return Agreement(
        id=name,
        mark=f"together-{name}" if wish.mark is None else wish.mark,
        members=tuple(Member(name=name, roadmap=str(one.roadmap)) for name, one in projects.items()),
        agent=wish.agent,
        budget_usd=wish.budget_usd,
        began_at=time.time(),
    )


def _look_ahead(name: str, project: Project, pact: Agreement, *, new: bool) -> AtomicStatus:
    """What a project has to do; refuses what would keep it from being begun, or from being moved in the end."""
    with naming(name):
        refuse_workers(project)
        wish = RunRequest(roadmap=project.roadmap, agent=pact.agent, new=new, budget_usd=pact.budget_usd, held=True)
        tasks = preview(wish, {})
        refuse_unmovable(project)
        outlook = AtomicStatus(tasks=tasks, done=None) if isinstance(tasks, tuple) else _done(name, project)
        _refuse_mark(project, pact.mark, outlook)
        return outlook


def _done(name: str, project: Project) -> AtomicStatus:
    user = project.repository.position()
    with mileposts_of(project) as mileposts, Journal.look(project.database) as journal:
        ahead = run_ahead(journal.runs(), mileposts, user)
    run, head = (ahead.run, ahead.tip) if ahead is not None else ("", user.commit)
    return AtomicStatus(
        tasks=(), done=Member(name=name, roadmap=str(project.roadmap), branch=user.branch, run=run, head=head)
    )


def refuse_workers(project: Project) -> None:
    """Raise when the runs of a project are done elsewhere."""
    if load(project.roadmap.parent, uses=EVERYTHING).run.database:
        raise SettingInvalid(
            "its runs are submitted to workers, but milepost together runs everything on one machine",
            "remove `database` from its milepost.toml, or unset MILEPOST_DATABASE",
        )


def refuse_unmovable(project: Project) -> None:
    """Raise when the user's branch could not be moved at the end."""
    repository = project.repository
    if not repository.is_clean():
        raise TogetherImpossible(
            "your working tree has uncommitted changes, so its branch could not be updated",
            "nothing was started: commit or stash them, then try again",
        )
    if repository.uses_filters(repository.position().commit):
        raise TogetherImpossible(
            "it uses git filters such as LFS, which only your own git may run",
            "its branch cannot be updated together with the others: use milepost run for it alone",
        )


def _refuse_mark(project: Project, mark: str, outlook: AtomicStatus) -> None:
    if problem := name_problem(mark):
        raise MarkInvalid(f"{mark!r} is not a valid mark name: {problem}", "choose another, such as release-2")
    ids = {one.id.lower() for top in read_now(project).tasks for one in top.walk()}
    if mark.lower() in ids:
        raise MarkInvalid(f"{mark!r} is the id of a task", "choose another name for the mark")
    with mileposts_of(project) as mileposts:
        there = mileposts.resolve(f"{MARKS}/{mark}")
    if there is not None and (outlook.done is None or there != outlook.done.head):
        raise MarkInvalid(
            f"the mark {mark!r} already exists, at {there[:7]}",
            f"choose another name, or delete it first: milepost mark {mark} --delete",
        )


def _succession(projects: Projects, *, new: bool) -> Succession:
    """What is to be done where, as their newest mileposts leave it."""
    interrupted = frozenset(name for name, project in projects.items() if not new and unfinished(project) is not None)
    return Succession(plans_of(projects), calls_of(projects), interrupted)


def _legs(
    projects: Projects, pact: Agreement, outlooks: Mapping[str, AtomicStatus], succession: Succession, *, new: bool
) -> Callable[[ReadyRun], ProjectRun | None]:
    """What makes the run of a project that may begin, within its share of what is left of the budget."""
    tasks = {name: len(one.tasks) or 1 for name, one in outlooks.items() if one.done is None}
    took = {name: took_since(project, pact.began_at) for name, project in projects.items()}
    shares = {} if pact.budget_usd is None else share_out(pact.budget_usd, took, tasks)

    def leg(start: ReadyRun) -> ProjectRun | None:
        name = start.project
        left: float | None = None
        if name in shares:
            left = left_of(shares[name], took[name], took_since(projects[name], pact.began_at))
            if left < SMALLEST_USD:
                succession.hear(name, LegEnd(why="its share of the budget is spent: raise it with --budget"))
                return None
        wish = RunRequest(
            roadmap=projects[name].roadmap,
            agent=pact.agent,
            tasks=start.tasks,
            new=new and name not in succession.ends,
            budget_usd=left,
            held=True,
            met=start.met,
        )
        return ProjectRun(name=name, words=command_of(wish))

    return leg
