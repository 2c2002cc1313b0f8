"""The course of a run: what it wants and how it goes on, as people steer it while it is on. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from milepost.core.errors import MilepostError
from milepost.core.task import Plan, Task
from milepost.engine.steering import Request
from milepost.plan.replan import Edit, follow


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The tasks that are wanted, how many attempts may be under way, and whether new ones may begin.

    `heard` is the number of the last request that was taken in; `seen` the roadmap as it was last read.
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

    `planned` makes a plan of an edited roadmap.
    """
    match request.kind:
        case "pause":
            said = "paused: what is at work goes on, nothing new begins. milepost resume lifts it"
            return Turn(course=replace(course, paused=True), plan=plan, said=(("", said),))
        case "go_on":
            return Turn(course=replace(course, paused=False, finishing=False), plan=plan, said=(("", "goes on"),))
        case "finish":
            finishing = replace(course, paused=True, finishing=True)
            return Turn(course=finishing, plan=plan, said=(("", "stops when what is at work is over"),))
        case "parallel":
            wider = replace(course, parallel=int(request.value))
            return Turn(course=wider, plan=plan, said=(("", f"{request.value} at a time from now on"),))
        case "drop":
            return _dropped(course, plan, request.task, begun)
        case "agent":
            return _handed(course, plan, request)
        case "roadmap" | "roadmap_seen":
            try:
                new = planned(request.value)
            except MilepostError as unreadable:
                why = f"the edited roadmap cannot be read: {unreadable}; going on with the one before"
                return Turn(course=course, plan=plan, said=(("", why),))
            return _edited(course, plan, request.value, new, begun, all_tasks=all_tasks)
        case _ as never:
            assert_never(never)


def _dropped(course: Course, plan: Plan, name: str, begun: frozenset[str]) -> Turn:
    if name not in course.wanted:
        return Turn(course=course, plan=plan, said=((name, "is not in this run: nothing to drop"),))
    if name in begun:
        return Turn(course=course, plan=plan, said=((name, "is begun already: milepost stop --now stops it"),))
    return Turn(course=course, plan=plan, said=((name, "dropped from this run"),), dropped=(name,))


def _handed(course: Course, plan: Plan, request: Request) -> Turn:
    def handed(task: Task) -> Task:
        return replace(task, agent=request.value) if request.task in ("", task.id) else task

    changed = replace(plan, tasks=tuple(map(handed, plan.tasks)))
    whom = f"attempts that begin from now on are made by {request.value}"
    return Turn(course=course, plan=changed, said=((request.task, whom),))


def _edited(course: Course, plan: Plan, text: str, new: Plan, begun: frozenset[str], *, all_tasks: bool) -> Turn:
    fatal = next((problem for problem in new.problems if problem.fatal), None)
    if fatal is not None:
        why = f"the edited roadmap cannot be followed, line {fatal.line}: {fatal.message}; going on with the one before"
        return Turn(course=course, plan=plan, said=(("", why),))
    edit = follow(plan, course.seen, new, begun=begun, wanted=course.wanted)
    more = tuple(name for name in edit.added if name not in course.wanted) if all_tasks else ()
    return Turn(
        course=replace(course, wanted=(*course.wanted, *more), seen=edit.seen),
        plan=edit.plan,
        said=_told(edit, all_tasks=all_tasks),
        dropped=edit.dropped,
        added=edit.added,
        roadmap=text,
    )


def _told(edit: Edit, *, all_tasks: bool) -> tuple[tuple[str, str], ...]:
    added = "added: it is on the roadmap now" if all_tasks else "is on the roadmap now, and not in this run"
    return (
        *((name, added) for name in edit.added),
        *((name, f"is called {now} on the roadmap now, and as before in this run") for name, now in edit.renamed),
        *((name, "dropped: it is off the roadmap, or ticked there") for name in edit.dropped),
        *((name, "edited: it will be done as it is written now") for name in edit.changed),
        *((name, "edited too late for this run: work on it began with the text before") for name in edit.late),
    )
