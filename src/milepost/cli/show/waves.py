"""The waves of a plan as a tree: a branch a wave, a line a task, and below it what does not fit beside its title."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from milepost.cli.format_text import clipped, columns, padded, safe

if TYPE_CHECKING:
    from milepost import Plan, Task

_LEAD, _MOST_OF_TITLE, _MOST_OF_ID, _FEWEST, _MOST_NAMED = 5, 48, 24, 16, 6
# So much longer than most an id may be and still have the column that all have.
_LONGER = 10
_SIGNS = {"only": "──", "first": "┬─", "middle": "├─", "last": "└─", "beside": "│ ", "below": "  "}
_PLAIN_SIGNS = {"only": "--", "first": "+-", "middle": "|-", "last": "`-", "beside": "| ", "below": "  "}


def wave_lines(plan: Plan, waves: Sequence[tuple[str, ...]], width: int) -> list[str]:
    """The waves in lines of at most `width` columns."""
    tasks = {task.id: task for task in plan.tasks}
    after = _after(plan, tasks)
    shown = [name for wave in waves for name in wave]
    id_width = _id_width([columns(_name(tasks[name])) for name in shown], width)
    room = width - _LEAD - 4 - id_width - 2
    usual = _usual([columns(tasks[name].title) for name in shown])
    title_width = max(_FEWEST, min(usual, _MOST_OF_TITLE, room * 2 // 5))
    signs = _signs()
    lines: list[str] = []
    for number, wave in enumerate(waves):
        for place, name in enumerate(wave):
            lead = ("now" if number == 0 else "then") if place == 0 else ""
            branch, below = _branch(place, len(wave))
            facts = safe("  ".join(_facts(tasks[name], after.get(name, ()))))
            own = safe(_name(tasks[name]))  # never cut: it is there to be copied
            start = f"{lead:<{_LEAD}}{signs[branch]} {own}"
            margin = f"{' ' * _LEAD}{signs[below]} {' ' * id_width}  "
            if columns(own) > id_width:
                lines.append(start)
                start = margin
            start += " " * (columns(margin) - columns(start))
            lines += _task_lines(start, margin, tasks[name].title, facts, title_width, width)
    return lines


def _id_width(lengths: Sequence[int], width: int) -> int:
    """The column of the ids: an id that is too long for it has a line of its own."""
    usual = _usual(lengths)
    most = min(usual + _LONGER, max(_MOST_OF_ID, width * 2 // 5))
    return max((length for length in lengths if length <= most), default=min(usual, _MOST_OF_ID))


def _task_lines(start: str, margin: str, title: str, facts: str, title_width: int, width: int) -> list[str]:
    """One line where title and facts have room, else the facts on a line of their own."""
    left = max(_FEWEST, width - columns(start))
    title = safe(title)
    if not facts or columns(title) > title_width or title_width + 2 + columns(facts) > left:
        lines = [f"{start}{clipped(title, left)}".rstrip()]
        return [*lines, f"{margin}{clipped(facts, width - columns(margin))}"] if facts else lines
    return [f"{start}{padded(title, title_width)}  {facts}"]


def _facts(task: Task, after: Sequence[str]) -> list[str]:
    facts = [", ".join(task.files)]
    facts += [f"with {', '.join(task.members)}"] if task.members else []
    facts += [task.agent] if task.agent else []
    facts += [f"after {', '.join(after)}"] if after else []
    facts += [f"verify: {' ; '.join(task.verify)}"] if task.verify else []
    facts += [f"verify hidden: {' ; '.join(task.verify_hidden)}"] if task.verify_hidden else []
    facts += ["behaviour: same"] if task.keeps_behaviour else []
    return [fact for fact in facts if fact]


def _after(plan: Plan, tasks: Mapping[str, Task]) -> dict[str, list[str]]:
    """Whom each task comes after that is not done yet, and why where nobody stated it and no order was asked for."""
    found = {
        task.id: [
            *(name for name in task.depends_on if name in tasks and tasks[name].status == "open"),
            *(str(other) for other in task.waits_elsewhere if not other.done),
        ]
        for task in plan.tasks
    }
    reasons: dict[tuple[str, str], list[str]] = {}
    for wait in plan.waits:
        if wait.why != "outline":  # that they come in their order is what is drawn
            reasons.setdefault((wait.task, wait.because), []).append(wait.after)
    for (task, why), names in reasons.items():
        shown = f"{', '.join(names[:_MOST_NAMED])}{' …' if len(names) > _MOST_NAMED else ''}"
        found[task].append(f"{shown} ({why})" if why else shown)
    return found


def _usual(lengths: Sequence[int]) -> int:
    """A width that most have room in: the few that are longer do not make all others wide."""
    return sorted(lengths)[(len(lengths) - 1) * 3 // 4] if lengths else 0


def _name(task: Task) -> str:
    return f"{task.id} +{len(task.members)}" if task.members else task.id


def _branch(place: int, count: int) -> tuple[str, str]:
    if count == 1:
        return "only", "below"
    if place == count - 1:
        return "last", "below"
    return ("first" if place == 0 else "middle"), "beside"


def _signs() -> Mapping[str, str]:
    """The signs of a tree, in letters where what is written to has no better ones."""
    try:
        "".join(_SIGNS.values()).encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return _PLAIN_SIGNS
    return _SIGNS
