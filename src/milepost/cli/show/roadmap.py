"""What a model read in a document, and new roadmaps, as a person reads them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import milepost
from milepost.cli.format_amounts import usd
from milepost.cli.format_text import clipped, counted, from_here, hanging, padded, safe

if TYPE_CHECKING:
    from milepost import Task
    from milepost.roadmaps import Composed, Normalised, Template


def normalised_lines(found: Normalised, width: int) -> list[str]:
    """The tasks with their lines, what was left out, what it took, and what to do next."""
    done = sum(task.status == "done" for task in found.tasks)
    facts = [counted(len(found.tasks), "task"), f"{done} done", f"read by {found.model}"]
    id_width = max(len(task.id) for task in found.tasks)
    line_width = max(len(str(task.line)) for task in found.tasks)
    lines = [" · ".join([safe(from_here(found.source)), *facts]), ""]
    for task in found.tasks:
        lead = f"{'x' if task.status == 'done' else ' '} line {task.line:>{line_width}}  {padded(task.id, id_width)}"
        lines.append(clipped(f"{lead}  {_facts(task, width - len(lead))}".rstrip(), max(width, 72)))
    lines.append("")
    if found.left_out:
        lines.append("left out, because it is not in the document:")
        lines += [line for one in found.left_out for line in hanging("  ", one, width)]
        lines.append("")
    lines.append(_cost(found))
    if found.written is not None:
        return [*lines, *written_lines(found.written)]
    target = "ROADMAP.md" if not Path("ROADMAP.md").exists() else "TASKS.md"
    words = shlex.join(["milepost", "roadmap", "normalise", from_here(found.source), "--write", target])
    return [*lines, f"nothing was written; this writes it, without asking the model again:   {safe(words)}"]


def written_lines(path: Path) -> list[str]:
    """The plan of a roadmap that was just written, in short, and what to do next."""
    plan, name = milepost.plan(path), from_here(path.absolute())
    still_open = sum(task.status == "open" for task in plan.tasks)
    facts = [counted(len(plan.tasks), "task"), f"{still_open} open", counted(len(plan.waves), "wave")]
    if plan.problems:
        facts.append(f"{counted(len(plan.problems), 'thing')} to check")
    quoted = shlex.quote(name)
    named = "" if name == "ROADMAP.md" else f" {quoted}"
    return [
        safe(f"wrote {name}: {' · '.join(facts)}"),
        safe(f"next   read it, then: git add {quoted} && git commit -m Roadmap && milepost plan{named}"),
    ]


def composed_notes(made: Composed) -> list[str]:
    """What people are told beside a new roadmap: what was left out of it, and what it took."""
    notes = [f"left out: {one}" for one in made.left_out]
    return [*notes, _cost(made)] if made.model else notes


def template_lines(found: tuple[Template, ...], width: int) -> list[str]:
    """The templates, one a line, and what to do with one."""
    room = max(len(one.name) for one in found) + 2
    lines = [line for one in found for line in hanging(f"{one.name:<{room}}", one.about, width)]
    return [*lines, "", "milepost roadmap new --template NAME shows one; --write ROADMAP.md writes it"]


def normalised_to_json(found: Normalised) -> dict[str, Any]:
    """The same for machines."""
    return {
        "source": str(found.source),
        "model": found.model,
        "cached": found.cached,
        "tasks": [
            {
                "id": task.id,
                "title": task.title,
                "status": task.status,
                "line": task.line,
                "phase": task.phase,
                "text": task.text,
                "depends_on": list(task.depends_on),
                "files": list(task.files),
                "verify": list(task.verify),
            }
            for task in found.tasks
        ],
        "left_out": list(found.left_out),
        **_cost_to_json(found),
        "roadmap": found.text,
        "written": None if found.written is None else str(found.written),
    }


def composed_to_json(made: Composed) -> dict[str, Any]:
    """The same for machines."""
    return {
        "model": made.model,
        "template": made.template,
        "tasks": [{"id": task.id, "title": task.title} for task in made.tasks],
        "left_out": list(made.left_out),
        **_cost_to_json(made),
        "roadmap": made.text,
        "written": None if made.written is None else str(made.written),
    }


def _facts(task: Task, width: int) -> str:
    facts = [", ".join(task.files)]
    facts += [f"verify: {' ; '.join(task.verify)}"] if task.verify else []
    facts += [f"after {', '.join(task.depends_on)}"] if task.depends_on else []
    rest = "  ".join(fact for fact in facts if fact)
    return f"{padded(task.title, max(20, min(48, width // 2)))}  {safe(rest)}" if rest else safe(task.title)


def _cost(of: Normalised | Composed) -> str:
    if not of.usage.tokens:
        return f"{of.model} read this document before: the model was not asked again, nothing was paid"
    cost = usd(of.usage.cost_usd) if of.price_known else "price unknown"
    return f"{of.model}: {of.usage.input_tokens} tokens in, {of.usage.output_tokens} out, {cost}"


def _cost_to_json(of: Normalised | Composed) -> dict[str, Any]:
    return {
        "cost_usd": of.usage.cost_usd if of.price_known else None,
        "input_tokens": of.usage.input_tokens,
        "output_tokens": of.usage.output_tokens,
    }
