"""What waits for tasks of other projects, and what may start though some do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from milepost.core.task import Plan, Problem, Roadmap, Task, TaskElsewhere

Statuses = Mapping[str, bool]  # whether each task of a project is done, by its folded id


def statuses(roadmap: Roadmap | Plan) -> Statuses:
    """Whether each task and subtask is done; what is below a done one is."""
    found: dict[str, bool] = {}

    def note(task: Task, above: bool) -> None:
        done = above or task.status == "done"
        found.update(dict.fromkeys((name.casefold() for name in task.ids), done))
        for part in task.subtasks:
            note(part, done)

    for task in roadmap.tasks:
        note(task, False)
    return found


def looked_up(plan: Plan, elsewhere: Mapping[str, Statuses]) -> Plan:
    """The plan whose references to other projects say whether their tasks are done, and what is wrong with them."""

    def seen(one: TaskElsewhere) -> TaskElsewhere:
        return replace(one, done=elsewhere.get(one.project, {}).get(one.id.casefold(), False))

    def with_seen(task: Task) -> Task:
        if not task.waits_elsewhere:
            return task
        waits = tuple(map(seen, task.depends_elsewhere))
        return replace(task, depends_elsewhere=waits, subtasks=tuple(map(with_seen, task.subtasks)))

    problems = (*plan.problems, *_unknown(plan, elsewhere))
    return replace(
        plan,
        tasks=tuple(map(with_seen, plan.tasks)),
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
    )


def saying_what_waits(plan: Plan) -> Plan:
    """The plan whose problems say which of its tasks a run would leave, because another project is not as far."""
    by_id = {task.id: task for task in plan.tasks}
    wrong = {problem.line for problem in plan.problems if problem.fatal}
    said = [
        Problem(
            line=by_id[name].line,
            message=f"{name} waits for {other}, which is still open in that project: a run skips it",
        )
        for name, other in waiting_elsewhere(plan, met(plan)).items()
        if not any(one.line in wrong for one in by_id[name].waits_elsewhere)
    ]
    problems = sorted((*plan.problems, *said), key=lambda problem: problem.line)
    return replace(plan, problems=tuple(problems)) if said else plan


def met(plan: Plan) -> tuple[str, ...]:
    """Those tasks of other projects that a plan waits for and that were seen to be done."""
    return tuple(dict.fromkeys(str(one) for task in plan.tasks for one in task.waits_elsewhere if one.done))


def _unknown(plan: Plan, elsewhere: Mapping[str, Statuses]) -> Iterator[Problem]:
    """The references to tasks that the other project does not have."""
    for task in plan.tasks:
        for other in task.waits_elsewhere if task.status == "open" else ():
            if other.project in elsewhere and other.id.casefold() not in elsewhere[other.project]:
                message = f"{task.id} depends on {str(other)!r}, but {other.project} has no task {other.id}"
                yield Problem(line=other.line or task.line, message=message, fatal=True)


def waiting_elsewhere(plan: Plan, done_elsewhere: Collection[str]) -> dict[str, str]:
    """The open tasks that wait for a task of another project, each with the first that is not done."""
    waits = {
        task.id: next((str(other) for other in task.waits_elsewhere if str(other) not in done_elsewhere), "")
        for task in plan.tasks
        if task.status == "open"
    }
    return {name: other for name, other in waits.items() if other}


def may_start(
    plan: Plan, done: Collection[str], done_elsewhere: Collection[str], given_up: Collection[str] = ()
) -> tuple[str, ...]:
    """The tasks that one run can do now: none of them waits elsewhere, nor for one that does or was given up."""
    waiting = waiting_elsewhere(plan, done_elsewhere)
    before = plan.before()
    met_here = {*done, *(task.id for task in plan.tasks if task.status == "done")}
    chosen: dict[str, None] = {}
    for name in (name for wave in plan.waves for name in wave):
        follows = all(other in met_here or other in chosen for other in before[name])
        if follows and name not in waiting and name not in met_here and name not in given_up:
            chosen[name] = None
    return tuple(chosen)
