"""The problems of a plan as a person reads them: each with its line, many of a kind as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from milepost.cli.format_text import counted, hanging, safe
from milepost.cli.named_roadmap import proposed

if TYPE_CHECKING:
    from milepost import Plan
    from milepost.plans import Problem

MOST_OF_A_KIND = 5
_SHOWN = 12
# A place that is longer, such as the name of a page, has a line of its own.
_WIDEST_PLACE = 16

_TOGETHER = {
    "no verify": "{} tasks have no Verify: each ends held unless it makes a failing test pass",
    "vague": "{} tasks are vague and have no Verify: say what to change and how to check it",
    "too big": "{} tasks are big for one attempt: milepost plan --propose shows how to split them",
    "missing file": "{} named files do not exist: fix their paths, or say that they are new",
    "missing program": "{} tasks have a Verify program that is not installed on this machine",
    "shared file": "{} groups of tasks change the same files: they will not run at the same time",
    "spoken file": "{} groups of tasks mention the same files: write `Files:` below them, or they may conflict",
    "same id": "{} tasks have the same id as another: each was given its own",
    "no task": "{} items look like tasks but are not: write `[ ] ` or `[x] `, followed by a space",
    "struck": "{} tasks are struck through but open, so they will be worked on: tick them, or delete them",
    "contradiction": "{} tasks say they are done but have open boxes, so they will be worked on: tick them",
    "ticked": "{} tasks are ticked but have open subtasks, which will not be worked on",
}


def problem_lines(plan: Plan, width: int, *, everything: bool = False, strict: bool = False) -> list[str]:
    """What to look at, what is fatal first; kinds that are found often in one line each unless all are asked for."""
    problems = sorted(plan.problems, key=lambda problem: not problem.fatal)
    if not problems:
        return [""]
    told = [(problem, _place(problem), proposed(problem.message)) for problem in problems]
    kinds = [] if everything else [kind for kind in _TOGETHER if _count(problems, kind) > MOST_OF_A_KIND]
    single = [one for one in told if one[0].kind not in kinds or one[0].fatal]
    heading = f"{counted(len(problems), 'thing')} to check before you spend money"
    lines = ["", f"{heading}; with --strict each one is fatal" if strict else heading]
    wide = max((len(place) for _, place, _ in single), default=0)
    for problem, place, message in single:
        mark = "error: " if problem.fatal else ""
        if wide > _WIDEST_PLACE:
            lines += [f"  {safe(place)}", *hanging("    ", f"{mark}{message}", max(width, 72))]
        else:
            lines += hanging(f"  {place:<{wide}}  ", f"{mark}{message}", max(width, 72))
    for kind in kinds:
        alike = [problem for problem in problems if problem.kind == kind and not problem.fatal]
        lines += hanging("  ", proposed(_TOGETHER[kind].format(len(alike))), max(width, 72))
        lines += hanging("    ", _places(alike), max(width, 72))
    if kinds:
        lines.append(proposed("  milepost plan --all lists them"))
    return [*lines, ""]


def _count(problems: Sequence[Problem], kind: str) -> int:
    return sum(problem.kind == kind and not problem.fatal for problem in problems)


def _place(problem: Problem) -> str:
    return f"{problem.page} line {problem.line}" if problem.page else f"line {problem.line}"


def _places(problems: Sequence[Problem]) -> str:
    shown = [*dict.fromkeys(_short(problems))]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return f"lines {', '.join(shown[:_SHOWN])}{more}"


def _short(problems: Sequence[Problem]) -> Iterator[str]:
    return (f"{problem.page}:{problem.line}" if problem.page else str(problem.line) for problem in problems)
