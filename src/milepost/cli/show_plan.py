"""A plan as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import milepost
from milepost.cli.amounts import minutes, usd
from milepost.cli.words import clipped, counted, padded, safe

if TYPE_CHECKING:
    from milepost import Choice, Forecast, Plan, Task


def plan_lines(
    plan: Plan, name: str, width: int, forecast: Forecast | str = "", choices: Mapping[str, Choice] | str = ""
) -> list[str]:
    """The plan in waves, what to look at, who would do it and what it will take, and what to do next."""
    lines = [*_head(plan, name), *_wave_lines(plan, plan.waves, width), *_problem_lines(plan, width)]
    lines += _choice_lines(choices, width) if plan.waves else []
    if plan.waves and forecast:
        lines += [clipped(forecast_line(forecast), max(width, 72))]
    if any(problem.fatal for problem in plan.problems):
        lines += ["next   mend the roadmap, then: milepost plan"]
    elif plan.waves:
        lines += ["next   milepost run"]
    else:
        lines += ["nothing is open"]
    return lines


def preview_lines(plan: Plan, would_run: tuple[str, ...], name: str, width: int) -> list[str]:
    """What a run would do of the plan, and that it was not done."""
    wanted = set(would_run)
    chosen = [tuple(task_id for task_id in wave if task_id in wanted) for wave in plan.waves]
    lines = [*_head(plan, name), *_wave_lines(plan, [wave for wave in chosen if wave], width)]
    lines += _problem_lines(plan, width)
    return [*lines, f"a run would do {counted(len(would_run), 'task')}; nothing was changed"]


def foretold(roadmap: Path | None) -> Forecast | str:
    """The forecast of a roadmap, or the words for why there is none: a plan is shown all the same."""
    try:
        return milepost.forecast(roadmap) or "no forecast: nothing similar was done here yet"
    except milepost.MilepostError as error:
        return f"no forecast: {error.message}"


def chosen(roadmap: Path | None) -> Mapping[str, Choice] | str:
    """Whom `auto` would be, or the words for why it would be nobody: a plan is shown all the same."""
    try:
        return milepost.choices(roadmap)
    except milepost.MilepostError as error:
        return error.message


def choices_to_json(choices: Mapping[str, Choice] | str) -> dict[str, Any]:
    """The choices for `plan --json`: left out where nobody is to be chosen."""
    if isinstance(choices, str) or not choices:
        return {}
    return {"chosen": {task: asdict(choice) for task, choice in choices.items()}}


def _choice_lines(choices: Mapping[str, Choice] | str, width: int) -> list[str]:
    if isinstance(choices, str):
        return [clipped(f"auto   {choices}", max(width, 72))] if choices else []
    told = (f"{safe(task)}  {choice.agent}: {choice.reason}" for task, choice in choices.items())
    return [clipped(f"{'auto' if number == 0 else '':<6} {line}", max(width, 72)) for number, line in enumerate(told)]


def forecast_to_json(forecast: Forecast | str) -> dict[str, Any]:
    """The forecast for `plan --json`: null where there is none."""
    return {"forecast": None if isinstance(forecast, str) else asdict(forecast)}


def forecast_line(forecast: Forecast | str) -> str:
    """What the open tasks will take, and how sure that is."""
    if isinstance(forecast, str):
        return forecast
    foreseen = counted(forecast.tasks, "task")
    if forecast.foreseen < forecast.tasks:
        foreseen = f"{forecast.foreseen} of {foreseen}"
    similar = f"from {counted(forecast.similar, 'similar attempt')}"
    spread = f"{usd(forecast.usd_low)[1:]} to {usd(forecast.usd_high)[1:]}"
    cost = f"about {usd(forecast.usd)} ({spread}, {similar})" if forecast.usd_high else f"no known cost ({similar})"
    at_once = "" if forecast.parallel == 1 else f" with {forecast.parallel} at a time"
    return f"forecast  {foreseen} · {cost} · {minutes(forecast.seconds)}{at_once}"


def _head(plan: Plan, name: str) -> list[str]:
    done = sum(task.status == "done" for task in plan.tasks)
    still_open = len(plan.tasks) - done
    head = [safe(name), counted(len(plan.tasks), "task"), f"{done} done", f"{still_open} open"]
    return [" · ".join([*head, counted(len(plan.waves), "wave")]), ""]


def _wave_lines(plan: Plan, waves: Sequence[tuple[str, ...]], width: int) -> list[str]:
    tasks = {task.id: task for task in plan.tasks}
    id_width = min(24, max((len(task_id) for wave in waves for task_id in wave), default=0))
    lines = []
    for number, wave in enumerate(waves):
        for place, task_id in enumerate(wave):
            lead = ("now" if number == 0 else "then") if place == 0 else ""
            waits = [name for name in tasks[task_id].depends_on if tasks[name].status == "open"]
            waits += [str(other) for other in tasks[task_id].waits_elsewhere if not other.done]
            lines.append(f"{lead:<6} {_task_line(tasks[task_id], waits, id_width, width - 7)}".rstrip())
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
