"""The course of a run: what it wants and how it goes on, as people steer it while it is on. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from milepost.core.errors import MilepostError
from milepost.core.task import Plan, Task
from milepost.engine.records.steering import Request
from milepost.plan.graph.regroup import groups_of, parted, without
from milepost.plan.graph.replan import Replanned, follow


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The tasks that are wanted, how many attempts may be under way, and whether new ones may begin.

    `heard` is the number of the last request that was taken in; `seen` the roadmap as it was last read, without groups.
    """

    wanted: tuple[str, ...]
    parallel: int
    seen: Plan
    paused: bool = False
    finishing: bool = False
    heard: int = 0

    def before(self, task: str, parts: tuple[str, ...]) -> Course:
        """The course on which the parts of a task are wanted before it."""
        at = self.wanted.index(task)
        return replace(self, wanted=(*self.wanted[:at], *parts, *self.wanted[at:]))

    def parted(self, before: Plan, after: Plan) -> Course:
        """The course on which those that left a group are wanted by themselves, after whom they were done with."""
        alone, groups = set(parted(before, after)), groups_of(before)
        names = (one for name in self.wanted for one in (name, *(m for m in groups.get(name, ()) if m in alone)))
        return replace(self, wanted=tuple(dict.fromkeys(names)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a request changes: the course, the plan, and in words. `dropped` tasks are over without an attempt."""

    course: Course
    plan: Plan
    said: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    roadmap: str = ""


def turned(
    course: Course,
    plan: Plan,
    request: Request,
    *,
    begun: frozenset[str],
    all_tasks: bool,
    planned: Callable[[str], Plan],
) -> Turn:
    """The course after a request. `begun` are the tasks that were started; `all_tasks` says that none were chosen.

    `planned` makes a plan of an edited roadmap, without groups.
    """
    match request.kind:
        case "pause":
            said = "paused: running attempts finish, nothing new starts. Continue with milepost resume"
            return Turn(course=replace(course, paused=True), plan=plan, said=(("", said),))
        case "go_on":
            return Turn(course=replace(course, paused=False, finishing=False), plan=plan, said=(("", "goes on"),))
        case "finish":
            finishing = replace(course, paused=True, finishing=True)
            return Turn(course=finishing, plan=plan, said=(("", "stops when the running tasks are finished"),))
        case "parallel":
            wider = replace(course, parallel=int(request.value))
            return Turn(course=wider, plan=plan, said=(("", f"{request.value} at a time from now on"),))
        case "drop":
            return _dropped(course, plan, request.task, begun)
        case "note":
            return _noted(course, plan, request)
        case "agent":
            return _handed(course, plan, request)
        case "roadmap" | "roadmap_seen":
            try:
                new = planned(request.value)
            except MilepostError as unreadable:
                why = f"the edited roadmap cannot be read: {unreadable}; continuing with the previous one"
                return Turn(course=course, plan=plan, said=(("", why),))
            return _edited(course, plan, request.value, new, begun, all_tasks=all_tasks)
        case _ as never:
            assert_never(never)


def _dropped(course: Course, plan: Plan, name: str, begun: frozenset[str]) -> Turn:
    leader = _leader(plan, name)
    if leader not in course.wanted:
        return Turn(course=course, plan=plan, said=((name, "is not in this run: nothing to drop"),))
    if leader in begun:
        with_it = "" if leader == name else f" with {leader}"
        return Turn(
            course=course, plan=plan, said=((name, f"has already started{with_it}: milepost stop --now stops it"),)
        )
    left = without(plan, course.seen, name, begun=begun)
    said = ((name, "dropped from this run"), *_alone(plan, left, but=(name,)))
    return Turn(course=course.parted(plan, left), plan=left, said=said, dropped=(name,))


def _handed(course: Course, plan: Plan, request: Request) -> Turn:
    leader = _leader(plan, request.task)
    whose = next((task.ids for task in plan.tasks if task.id == leader), ())

    def handed(task: Task) -> Task:
        return replace(task, agent=request.value) if not request.task or task.id in whose else task

    changed = replace(plan, tasks=tuple(map(handed, plan.tasks)))
    whom = f"new attempts are made by {request.value}"
    group = f"is done in one attempt with {_others(whose, request.task)}: " if len(whose) > 1 else ""
    return Turn(course=course, plan=changed, said=((request.task, f"{group}{whom}"),))


def _noted(course: Course, plan: Plan, request: Request) -> Turn:
    """Only says it: attempts find their notes when they begin."""
    names = {one.id.lower(): task.id for task in plan.tasks for one in task.walk()}
    task = names.get(request.task.lower(), request.task)
    heard = not task or _leader(plan, task) in course.wanted
    what = f"note: {request.value}" if heard else "is not in this run: no agent will see the note"
    return Turn(course=course, plan=plan, said=((task, what),))


def _leader(plan: Plan, name: str) -> str:
    """Who leads the group that a task is in; the task itself where it is in none."""
    return next((task.id for task in plan.tasks if name in task.members), name)


def _others(names: tuple[str, ...], but: str) -> str:
    return ", ".join(name for name in names if name != but)


def _alone(before: Plan, after: Plan, but: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """What is said of those that left a group and are still to be done."""
    return tuple(
        (name, "will be done on its own: its group has changed") for name in parted(before, after) if name not in but
    )


def _edited(course: Course, plan: Plan, text: str, new: Plan, begun: frozenset[str], *, all_tasks: bool) -> Turn:
    fatal = next((problem for problem in new.problems if problem.fatal), None)
    if fatal is not None:
        why = f"the edited roadmap is invalid, line {fatal.line}: {fatal.message}; continuing with the previous one"
        return Turn(course=course, plan=plan, said=(("", why),))
    edit = follow(plan, course.seen, new, begun=begun, wanted=course.wanted)
    still = course.parted(plan, edit.plan)
    more = tuple(name for name in edit.added if name not in still.wanted) if all_tasks else ()
    return Turn(
        course=replace(still, wanted=(*still.wanted, *more), seen=edit.seen),
        plan=edit.plan,
        said=(*_told(edit, all_tasks=all_tasks), *_alone(plan, edit.plan, but=edit.dropped)),
        dropped=edit.dropped,
        added=edit.added,
        roadmap=text,
    )


def _told(edit: Replanned, *, all_tasks: bool) -> tuple[tuple[str, str], ...]:
    added = "added: it is on the roadmap now" if all_tasks else "is on the roadmap now, but not in this run"
    return (
        *((name, added) for name in edit.added),
        *(
            (name, f"is called {now} on the roadmap now, but keeps its old id in this run")
            for name, now in edit.renamed
        ),
        *((name, "dropped: it is off the roadmap, or ticked there") for name in edit.dropped),
        *((name, "edited: it will be done as it is written now") for name in edit.changed),
        *((name, "edited too late for this run: work on it started with the old text") for name in edit.late),
    )
