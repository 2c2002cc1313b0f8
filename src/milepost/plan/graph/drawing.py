"""A plan as the text of a graph, for Mermaid and for Graphviz: waves as boxes, what comes after what as arrows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, assert_never

from milepost.core.task import Plan, Task

GraphForm = Literal["mermaid", "dot"]

LONGEST_TITLE = 60

# What Mermaid or its Markdown would take for its own, and what no label should have.
_SPECIAL = re.compile(r"[\"#;&<>`*_{}\[\]()|\\$~^%@=:]")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+")


def drawn(plan: Plan, form: GraphForm) -> str:
    """The text of a plan's graph."""
    match form:
        case "mermaid":
            return "\n".join(_mermaid(plan))
        case "dot":
            return "\n".join(_dot(plan))
        case _ as never:
            assert_never(never)


def _mermaid(plan: Plan) -> Iterator[str]:
    names = _names(plan)
    tasks = {task.id: task for task in plan.tasks}
    yield "flowchart LR"
    for number, wave in enumerate(plan.waves, 1):
        yield f'  subgraph w{number}["{_wave(number)}"]'
        yield from (f'    {names[name]}["{_for_mermaid(_label(tasks[name]))}"]' for name in wave)
        yield "  end"
    for task in _outside(plan):
        opening, closing = ('(["', '"])') if task.status == "done" else ('["', '"]')
        style = ":::done" if task.status == "done" else ":::never"
        yield f"  {names[task.id]}{opening}{_for_mermaid(_label(task))}{closing}{style}"
    for before, after, why, stated in _edges(plan):
        label = f'|"{_for_mermaid(why)}"|' if why else ""
        yield f"  {names[before]} {'-->' if stated else '-.->'}{label} {names[after]}"
    yield "  classDef done fill:#eeeeee,stroke:#bbbbbb,color:#777777"
    yield "  classDef never stroke:#bb0000,stroke-dasharray:4"


def _dot(plan: Plan) -> Iterator[str]:
    names = _names(plan)
    tasks = {task.id: task for task in plan.tasks}
    yield "digraph plan {"
    yield "  rankdir=LR;"
    yield '  node [shape=box, style=rounded, fontname="sans-serif"];'
    yield '  edge [fontname="sans-serif", fontsize=10];'
    for number, wave in enumerate(plan.waves, 1):
        yield f"  subgraph cluster_{number} {{"
        yield f'    label="{_wave(number)}";'
        yield from (f'    {names[name]} [label="{_for_dot(_label(tasks[name]))}"];' for name in wave)
        yield "  }"
    for task in _outside(plan):
        style = 'style="rounded,filled", fillcolor="#eeeeee", color="#bbbbbb", fontcolor="#777777"'
        style = style if task.status == "done" else 'style="rounded,dashed", color="#bb0000"'
        yield f'  {names[task.id]} [label="{_for_dot(_label(task))}", {style}];'
    for before, after, why, stated in _edges(plan):
        facts = [*([f'label="{_for_dot(why)}"'] if why else []), *([] if stated else ["style=dashed"])]
        told = f" [{', '.join(facts)}]" if facts else ""
        yield f"  {names[before]} -> {names[after]}{told};"
    yield "}"


def _wave(number: int) -> str:
    return "now" if number == 1 else f"then ({number})"


def _names(plan: Plan) -> dict[str, str]:
    """A name for each task that no graph language has a meaning for."""
    return {task.id: f"t{number}" for number, task in enumerate(plan.tasks, 1)}


def _outside(plan: Plan) -> Iterator[Task]:
    """The tasks in no wave that are drawn all the same: what is done before others, and what never can start."""
    inside = {name for wave in plan.waves for name in wave}
    led = {name for task in plan.tasks for name in task.members}
    needed = {before for before, *_ in _edges(plan)}
    for task in plan.tasks:
        if task.id not in inside and task.id not in led and (task.status == "open" or task.id in needed):
            yield task


def _edges(plan: Plan) -> Iterator[tuple[str, str, str, bool]]:
    """Every arrow: from, to, why where that is not stated, and whether it is."""
    known = {task.id for task in plan.tasks}
    led = {name for task in plan.tasks for name in task.members}
    for task in plan.tasks:
        if task.status == "open" and task.id not in led:
            yield from ((name, task.id, "", True) for name in task.depends_on if name in known)
    for wait in plan.waits:
        yield wait.after, wait.task, wait.because or ("in order" if wait.why == "outline" else ""), False


def _label(task: Task) -> str:
    title = " ".join(_UNSEEN.sub(" ", task.title).split())
    title = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    more = f" +{len(task.members)}" if task.members else ""
    return f"{task.id}{more}  {title}"


def _for_mermaid(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", _UNSEEN.sub(" ", text))


def _for_dot(text: str) -> str:
    return _UNSEEN.sub(" ", text).replace("\\", "\\\\").replace('"', '\\"')
