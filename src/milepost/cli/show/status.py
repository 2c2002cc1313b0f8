"""The state of a run, as a person and as a program read it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from milepost import TaskFinished, Verdict, events
from milepost.cli.costs import spent_facts
from milepost.cli.format_amounts import minutes, of, usd
from milepost.cli.format_text import (
    clipped,
    clock_time,
    countdown,
    counted,
    duration,
    facts_lines,
    hanging,
    number,
    safe,
    wrapped,
)
from milepost.cli.live_display import reason_lines, task_line
from milepost.cli.named_roadmap import proposed
from milepost.events import AttemptFinished

if TYPE_CHECKING:
    from milepost import Status
    from milepost.runs import Progress

STEERINGS_SHOWN = 5
_ON_TIME_S = 30.0
_ON_PRICE_USD = 0.005


def status_lines(status: Status | None, width: int) -> list[str]:
    """What is over, what is going on, how far it is, and what to do next."""
    if status is None:
        return ["no runs here yet", proposed("next   milepost run")]
    ago = duration(int((time.time() - status.started_at) * 1000))
    lines = [f"run {status.run} · {_state(status)} · started {ago} ago"]
    if status.holder is not None:
        lines[0] += f" · pid {status.holder.pid}"
    if status.trust:
        lines[0] += f" · sandbox: {safe(status.trust)}"
    lines.append("")
    for event in _over(status):
        lines += _over_lines(status, event, width)
    if status.progress is not None:
        lines += [] if status.state == "finished" else _ahead(status, status.progress, width)
        lines += ["", *_sums(status, status.progress, width)]
    if status.unsynced:
        lines += ["", f"{counted(status.unsynced, 'row')} of the memory not synced yet: milepost memory sync"]
    steps = _next(status, status.progress)
    return (
        lines
        + ([""] if steps else [])
        + [f"{'' if place else 'next':<6} {proposed(one)}" for place, one in enumerate(steps)]
    )


def status_to_json(status: Status | None) -> dict[str, Any]:
    if status is None:
        return {"run": None, "state": "none", "tasks": []}
    finished = [events.to_json(entry.event) for entry in status.entries if isinstance(entry.event, TaskFinished)]
    progress = status.progress
    return {
        "run": status.run,
        "state": status.state,
        "started_at": status.started_at,
        "trust": status.trust,
        "unsynced": status.unsynced,
        "pid": status.holder.pid if status.holder else None,
        "tasks": finished,
        "under_way": [events.to_json(one.stage) for one in progress.in_work] if progress else [],
        "summary": events.to_json(status.summary) if status.summary else None,
        "progress": _progress_to_json(progress) if progress else None,
    }


def _state(status: Status) -> str:
    """How the run stands, in the words of whoever made it so."""
    progress = status.progress
    if progress is None or status.state not in ("running", "interrupted"):
        return "abandoned" if status.state == "left" else status.state
    if progress.halt == "finishing":
        return (
            "stops when the running tasks are finished"
            if status.state == "running"
            else "stopped after the running tasks"
        )
    if progress.halt == "paused":
        return "paused"
    parked = status.state == "interrupted" and not progress.in_work
    return "waiting for you" if parked and _asks(progress) else status.state


def _next(status: Status, progress: Progress | None) -> list[str]:
    """The commands that bring it on."""
    if status.state not in ("running", "interrupted"):
        if progress is not None and progress.held:
            return ["milepost gates"]
        return ["milepost run"] if status.state == "left" else []
    asks = progress is not None and _asks(progress)
    if progress is not None and progress.halt:
        return [_resume(progress), *(["milepost gates"] if asks else [])]
    if asks:
        return ["milepost gates"]
    if status.state == "interrupted" and (status.goes_on_at or 0.0) > time.time():
        return ["milepost resume --at-reset"]
    return ["milepost stop" if status.state == "running" else _resume(progress)]


def _asks(progress: Progress) -> bool:
    return any(one.kind == "person" for one in progress.waiting)


def _over(status: Status) -> list[TaskFinished]:
    """The ends of tasks; one that was dropped and came back is not over."""
    ends = {entry.event.task: entry.event for entry in status.entries if isinstance(entry.event, TaskFinished)}
    if status.progress is None:
        return list(ends.values())
    progress = status.progress
    over = {*progress.passed, *progress.accepted, *progress.held, *progress.lost, *progress.set_aside}
    return [event for name, event in ends.items() if name in over]


def _over_lines(status: Status, event: TaskFinished, width: int) -> list[str]:
    if status.progress is None or event.task not in status.progress.set_aside:
        return [task_line(event, width), *reason_lines(event, _failed(status, event.task), width)]
    short, _, why = event.reason.partition(": ")
    whole = task_line(replace(event, reason=short), width)
    return [whole, *(wrapped(why, width, indent=9) if why else [])]


def _progress_to_json(progress: Progress) -> dict[str, Any]:
    return {
        "asked": progress.asked,
        "passed": list(progress.passed),
        "accepted": list(progress.accepted),
        "held": list(progress.held),
        "lost": list(progress.lost),
        "set_aside": list(progress.set_aside),
        "halt": progress.halt,
        "steered": [{"task": one.task, "what": one.what} for one in progress.steered],
        "in_work": [
            {"task": one.stage.task, "stage": one.stage.stage, "since": one.since, "said": one.said}
            for one in progress.in_work
        ],
        "waiting": [asdict(one) for one in progress.waiting],
        "blocked": [asdict(one) for one in progress.blocked],
        "to_do": list(progress.to_do),
        "roadmap": {"tasks": progress.roadmap_tasks, "done": progress.roadmap_done},
        "worked_s": progress.worked_s,
        "tried_s": progress.tried_s,
        "tasks_per_hour": progress.velocity,
        "left_s": progress.left_s,
        "behind_s": progress.behind_s,
        "spent": asdict(progress.spent),
        "budget": {name: bound for name, bound in asdict(progress.budget).items() if bound is not None},
        "usd_at_end": progress.usd_at_end,
        "over_usd": progress.over_usd,
        "forecast": events.to_json(progress.forecast) if progress.forecast else None,
    }


def _resume(progress: Progress | None) -> str:
    """The command that goes on, with more money where that is what it waits for."""
    walled = progress is not None and any(one.kind == "budget" and "$" in one.what for one in progress.waiting)
    more = progress.budget.usd if progress is not None and walled else None
    return "milepost resume" if more is None else f"milepost resume --budget {2 * more:.10g}"


def _failed(status: Status, task: str) -> list[AttemptFinished]:
    attempts = [entry.event for entry in status.entries if isinstance(entry.event, AttemptFinished)]
    return [attempt for attempt in attempts if attempt.task == task and attempt.verdict is Verdict.FAILED]


def _ahead(status: Status, progress: Progress, width: int) -> list[str]:
    """What is at work, what waits for whom, what is still to do, and what people changed last."""
    lines = []
    for one in progress.in_work:
        what = f"{one.stage.stage:<7} {one.stage.task}  {one.stage.title}  attempt {one.stage.attempt}"
        clock = duration(int((time.time() - one.since) * 1000))
        running = status.state == "running"
        lines.append(clipped(f"┃ {what}  {clock}" if running else f"  was at  {what}", width))
        if running and one.said:
            lines.append(clipped(f"┃         {one.said}", width))
    for wait in progress.waiting:
        whom = {"person": "you", "service": "service", "budget": "budget"}[wait.kind]
        who = f"{wait.task}  " if wait.task else ""
        lines += hanging("  waits   ", f"{who}for {whom}: {wait.what}{_countdown(wait.until)}", width)
    for blocked in progress.blocked:
        why = f"{blocked.by}, which was not completed" if blocked.lost else blocked.by
        lines += hanging("  blocked ", f"{blocked.task}  by {why}", width)
    if progress.to_do:
        lines.append(clipped(f"  to do   {', '.join(progress.to_do)}", width))
    for steered in progress.steered[-STEERINGS_SHOWN:]:
        lines += hanging("  steered ", f"{steered.task}  {steered.what}" if steered.task else steered.what, width)
    return lines


def _countdown(until: float) -> str:
    """How long a service is still waited for, and until when."""
    if not until:
        return ""
    left_s = until - time.time()
    return f" · asked again in {countdown(left_s)}, at {clock_time(until)}" if left_s > 0 else " · can be asked again"


def _sums(status: Status, progress: Progress, width: int) -> list[str]:
    """The run in numbers: of its tasks, of the whole roadmap, of its time, of its money."""
    counts = [
        (len(progress.in_work), "running" if status.state == "running" else "interrupted"),
        (sum(one.kind == "person" for one in progress.waiting), "waiting for you"),
        (len(progress.blocked), "blocked"),
        (len(progress.to_do), "to do"),
        (len(progress.accepted), "accepted"),
        (len(progress.held), "held"),
        (len(progress.lost), "not completed"),
        (len(progress.set_aside), "skipped or dropped"),
    ]
    run = [f"{len(progress.passed)} of {progress.asked} done"]
    run += [f"{count} {words}" for count, words in counts if count]
    if progress.roadmap_tasks:
        run.append(f"whole roadmap {progress.roadmap_done} of {progress.roadmap_tasks}")
    sums = {"tasks": run, "time": _time(status, progress), "cost": _money(progress)}
    return [line for lead, facts in sums.items() for line in facts_lines(f"{lead:<6} ", facts, width)]


def _time(status: Status, progress: Progress) -> list[str]:
    bound = progress.budget.seconds
    facts = [of(minutes(progress.worked_s), None if bound is None else minutes(bound)) + " of working time"]
    if progress.tried_s:
        facts.append(f"{minutes(progress.tried_s)} in finished attempts, in total")
    if progress.velocity is not None:
        facts.append(f"{number(progress.velocity)} tasks per hour")
    if progress.left_s and status.state != "finished":
        until = time.strftime("%H:%M", time.localtime(time.time() + progress.left_s))
        facts.append(f"about {minutes(progress.left_s)} left")
        facts += [f"until {until}"] if status.state == "running" and not progress.halt else []
    if progress.forecast is not None and progress.behind_s is not None:
        facts.append(_against(progress.behind_s, _ON_TIME_S, minutes, ("later", "sooner"), progress.forecast.seconds))
    return facts


def _money(progress: Progress) -> list[str]:
    facts = spent_facts(progress.spent.usd, progress.spent.tokens, progress.budget.usd)
    if progress.spent.held_usd:
        facts.append(f"{usd(progress.spent.held_usd)} reserved for unanswered calls")
    if progress.usd_at_end is not None and progress.usd_at_end - progress.spent.usd > _ON_PRICE_USD:
        facts.append(f"about {usd(progress.usd_at_end)} at the end")
    if progress.forecast is not None and progress.over_usd is not None and progress.usd_at_end:
        facts.append(_against(progress.over_usd, _ON_PRICE_USD, usd, ("more", "less"), progress.forecast.usd))
    return facts


def _against(
    off: float, small: float, words: Callable[[float], str], more_less: tuple[str, str], foretold: float
) -> str:
    """How far it is from the forecast."""
    if abs(off) <= small:
        return f"as forecast ({words(foretold)})"
    return f"{words(abs(off))} {more_less[0 if off > 0 else 1]} than the forecast of {words(foretold)}"
