"""The context command: what an agent would be shown of the repository for a task."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from milepost import plans
from milepost.cli.arguments import Json, RoadmapOption, TaskId
from milepost.cli.format_text import number, safe, short_agent
from milepost.cli.output import print_lines


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(context)


def context(
    task: TaskId,
    tokens: Annotated[
        int | None,
        typer.Option(min=0, max=1_000_000, metavar="N", help="The token budget. Default: context.tokens."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The agent to build the context for. Default: the agent of a run, else tool."
        ),
    ] = None,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Show the context an agent would get with a task, and the tokens of each section."""
    found = plans.context(task, roadmap, tokens=tokens, agent=agent)
    if as_json:
        print_lines(json.dumps(context_to_json(found), indent=2))
    else:
        print_lines("\n".join(context_lines(found)))


def context_lines(found: plans.TaskContext) -> list[str]:
    """The sections with their tokens, then all of it as it is shown."""
    shown, bounds = found.context, found.context.bounds
    who = short_agent(safe(found.agent))
    why = f" ({found.bounded})" if found.bounded else ""
    lines = [
        f"{safe(found.task)}  {safe(found.title)}",
        f"for {who} at {found.commit[:7]} · {number(shown.tokens)} of {number(bounds.tokens)} tokens "
        f"of {bounds.bytes_per_token:g} bytes{why}",
        "",
    ]
    lines += [f"  rules      {safe(path)}" for path, _ in found.rules]
    if not shown.sections:
        return [*lines, f"nothing is shown to {who}"]
    for section in shown.sections:
        lines.append(f"  {section.name:<10} {number(section.tokens):>8}{'   cut to fit' if section.cut else ''}")
    lines += [f"  {name:<10} {'–':>8}   no room" for name in shown.left_out]
    return [*lines, "", *(safe(line) for line in shown.text.split("\n"))]


def context_to_json(found: plans.TaskContext) -> dict[str, Any]:
    """The same for machines."""
    shown = found.context
    return {
        "task": found.task,
        "agent": found.agent,
        "commit": found.commit,
        "tokens": shown.tokens,
        "budget": shown.bounds.tokens,
        **({"bounded": found.bounded} if found.bounded else {}),
        "bytes_per_token": shown.bounds.bytes_per_token,
        "sections": [
            {"name": section.name, "tokens": section.tokens, "cut": section.cut, "text": section.text}
            for section in shown.sections
        ],
        "left_out": list(shown.left_out),
        "rules": [{"file": path, "text": text} for path, text in found.rules],
    }
