"""A plan as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import milepost
from milepost import plans
from milepost.cli.format_amounts import minutes, usd
from milepost.cli.format_text import clipped, counted, facts_lines, hanging, safe
from milepost.cli.named_roadmap import proposed
from milepost.cli.show.explain import guessed
from milepost.cli.show.problems import problem_lines
from milepost.cli.show.waves import wave_lines

if TYPE_CHECKING:
    from milepost import Plan
    from milepost.plans import Choice, Forecast, LineChecked, Proposal

_SHORTEST_PATH, _LONGEST_PATH = 3, 12


def plan_lines(
    plan: Plan,
    name: str,
    width: int,
    forecast: Forecast | str = "",
    choices: Mapping[str, Choice] | str = "",
    *,
    everything: bool = False,
    strict: bool = False,
    agent: str | None = "",
) -> list[str]:
    """The plan in waves, what to look at, who would do it and what it will take, and what to do next.

    `agent` is whom a run needs to be told, None where nobody is here who could be.
    """
    lines = [*_head(plan, name, width), *wave_lines(plan, plan.waves, width)]
    lines += problem_lines(plan, width, everything=everything, strict=strict)
    lines += [line for note in plan.notes for line in hanging("note   ", proposed(note), width)]
    lines += _choice_lines(choices, width) if plan.waves else []
    lines += _path_lines(plan, forecast, width)
    if plan.waves and forecast:
        lines += [clipped(forecast_line(forecast), max(width, 72))]
    if any(problem.fatal for problem in plan.problems):
        lines += [proposed("next   fix the roadmap, then: milepost plan")]
    elif plan.problems and strict:
        lines += [proposed("next   fix the roadmap, then: milepost plan --strict")]
    elif plan.waves and agent is None:
        run = proposed(f"milepost run --agent NAME{_dialect(plan)}")
        lines += [f"next   milepost doctor   what agents need to work here; then: {run}"]
    elif plan.waves:
        lines += [proposed(f"next   milepost run{f' --agent {agent}' if agent else ''}{_dialect(plan)}")]
    else:
        lines += ["no open tasks"]
    return lines


def preview_lines(plan: Plan, would_run: tuple[str, ...], name: str, width: int) -> list[str]:
    """What a run would do of the plan, and that it was not done."""
    wanted = set(would_run)
    chosen = [tuple(task_id for task_id in wave if task_id in wanted) for wave in plan.waves]
    lines = [*_head(plan, name, width), *wave_lines(plan, [wave for wave in chosen if wave], width)]
    lines += problem_lines(plan, width)
    return [*lines, f"a run would do {counted(len(would_run), 'task')}; nothing was changed"]


def proposal_lines(proposals: Sequence[Proposal], width: int) -> list[str]:
    """How tasks that are too big could be split, as lines for the roadmap."""
    if not proposals:
        return ["no open task is too big for one attempt"]
    lines: list[str] = []
    for proposal in proposals:
        task = proposal.task
        lines += hanging("", f"{task.id} on line {task.line}: {', '.join(proposal.reasons)}", width)
        if proposal.parts:
            lines += ["  replace it with:", "", *(f"  {safe(line)}" for line in proposal.lines()), ""]
        else:
            lines += ["  it does not say how to split it: list its steps as boxes below it", ""]
    return lines[:-1]


def checked_lines(checked: Sequence[LineChecked] | None, width: int) -> list[str]:
    """How each line stands before the work, those that are as they should be last and in one line; None: not asked."""
    if checked is None:
        return hanging("check  ", "no Verify line was run: the roadmap has errors", width)
    odd = [one for one in checked if one.state != "fails now"]
    lines = [
        line
        for one in odd
        for line in hanging(
            "check  ", f"{one.task}  `{one.line}` {one.state}{f': {one.why}' if one.why else ''}", width
        )
    ]
    right = len(checked) - len(odd)
    ending = "fails now, as it should" if right == 1 else "fail now, as they should"
    return [*lines, f"check  {counted(right, 'Verify line')} {ending}"] if right else lines


def checked_to_json(checked: Sequence[LineChecked]) -> dict[str, Any]:
    """The same for machines."""
    return {"checked": [asdict(one) for one in checked]}


def foretold(roadmap: Path | None, plan: Plan) -> Forecast | str:
    """The forecast of a roadmap, or the words for why there is none: a plan is shown all the same."""
    try:
        return plans.forecast(roadmap, plan) or "no forecast: no similar tasks were done here yet"
    except milepost.MilepostError as error:
        return f"no forecast: {error.message}"


def chosen(roadmap: Path | None, plan: Plan) -> Mapping[str, Choice] | str:
    """Whom `auto` would be, or the words for why it would be nobody: a plan is shown all the same."""
    try:
        return plans.choices(roadmap, plan)
    except milepost.MilepostError as error:
        return error.message


def plan_to_json(plan: Plan, forecast: Forecast | str, choices: Mapping[str, Choice] | str) -> dict[str, Any]:
    """All that `milepost plan --json` says."""
    known = None if isinstance(forecast, str) else forecast
    return plans.to_json(plan, known) | forecast_to_json(forecast) | choices_to_json(choices)


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


def _path_lines(plan: Plan, forecast: Forecast | str, width: int) -> list[str]:
    """The critical path, where it is more than the order of two tasks."""
    path = plans.critical_path(plan, None if isinstance(forecast, str) else forecast)
    if len(path) < _SHORTEST_PATH:
        return []
    shown = path if len(path) <= _LONGEST_PATH else (*path[: _LONGEST_PATH - 2], "…", path[-1])
    way = " → ".join(shown)
    return hanging("path   ", f"{way}: {counted(len(path), 'task')} one after the other, the longest chain", width)


def _dialect(plan: Plan) -> str:
    """What a run needs to take guesses."""
    return f" --dialect {plan.dialect}" if any(task.guess for task in plan.tasks) else ""


def _head(plan: Plan, name: str, width: int) -> list[str]:
    done = sum(task.status == "done" for task in plan.tasks)
    still_open = len(plan.tasks) - done
    groups = sum(bool(task.members) for task in plan.tasks)
    head = [safe(name), counted(len(plan.tasks), "task"), f"{done} done", f"{still_open} open"]
    head += [counted(groups, "group")] if groups else []
    return [*facts_lines("", [*head, counted(len(plan.waves), "wave"), *guessed(plan)], max(width, 72)), ""]
