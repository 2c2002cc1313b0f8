"""A plan as a person reads it."""

from __future__ import annotations

from milepost.cli.words import clipped, counted, padded, safe
from milepost.core.task import Plan, Task


def plan_lines(plan: Plan, name: str, width: int) -> list[str]:
    """The plan in waves, what to look at, and what to do next."""
    done = sum(task.status == "done" for task in plan.tasks)
    still_open = len(plan.tasks) - done
    head = [safe(name), counted(len(plan.tasks), "task"), f"{done} done", f"{still_open} open"]
    lines = [" · ".join([*head, counted(len(plan.waves), "wave")]), ""]
    tasks = {task.id: task for task in plan.tasks}
    id_width = min(24, max((len(task_id) for wave in plan.waves for task_id in wave), default=0))
    for number, wave in enumerate(plan.waves):
        for place, task_id in enumerate(wave):
            lead = ("now" if number == 0 else "then") if place == 0 else ""
            waits = [name for name in tasks[task_id].depends_on if tasks[name].status == "open"]
            lines.append(f"{lead:<6} {_task_line(tasks[task_id], waits, id_width, width - 7)}".rstrip())
    lines += _problem_lines(plan, width)
    if any(problem.fatal for problem in plan.problems):
        lines += ["next   mend the roadmap, then: milepost plan"]
    elif plan.waves:
        lines += ["next   milepost run"]
    else:
        lines += ["nothing is open"]
    return lines


def _task_line(task: Task, waits: list[str], id_width: int, width: int) -> str:
    title_width = max(20, min(48, (width - id_width) // 2))
    facts = [", ".join(task.files)]
    if task.agent:
        facts.append(task.agent)
    if task.verify:
        facts.append("verify: " + " ; ".join(task.verify))
    if waits:
        facts.append("after " + ", ".join(waits))
    rest = "  ".join(fact for fact in facts if fact)
    line = f"{padded(task.id, id_width)}  {padded(task.title, title_width)}  {safe(rest)}"
    return clipped(line, width)


def _problem_lines(plan: Plan, width: int) -> list[str]:
    if not plan.problems:
        return [""]
    things = counted(len(plan.problems), "thing")
    lines = ["", f"{things} to look at before you spend money"]
    place = max(len(str(problem.line)) for problem in plan.problems)
    for problem in plan.problems:
        mark = "error: " if problem.fatal else ""
        lines.append(clipped(f"  line {problem.line:>{place}}  {mark}{problem.message}", max(width, 72)))
    return [*lines, ""]
