"""The arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from milepost.cli.named_roadmap import remember

Roadmap = Annotated[
    Path | None,
    typer.Argument(metavar="ROADMAP", help="The checklist. Default: ROADMAP.md here or above.", callback=remember),
]
RoadmapOption = Annotated[
    Path | None,
    typer.Option("--roadmap", metavar="FILE", help="The checklist. Default: as for run.", callback=remember),
]
Json = Annotated[bool, typer.Option("--json", help="The same answer for machines.")]
NetworkOption = Annotated[
    str | None,
    typer.Option(
        "--network", metavar="NETWORK", help="What may be reached: none, loopback, open, or hosts (a.org,b.org)."
    ),
]
TaskId = Annotated[str, typer.Argument(metavar="TASK", help="A task's id, as plan and log print it.")]
Graph = Literal["mermaid", "dot"]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="ORDER", help="free: as dependencies allow. outline: as the roadmap lists it. Over plan.order."
    ),
]
Dialect = Annotated[
    str | None,
    typer.Option(metavar="DIALECT", help="How the roadmap is written: boxes, emoji, table, … Over roadmap.dialect."),
]
Group = Annotated[
    str | None,
    typer.Option(metavar="GROUPS", help="Small tasks in one attempt: none, section, smart. Over plan.group."),
]
