"""The arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from milepost.cli.named_roadmap import remember

Roadmap = Annotated[
    Path | None,
    typer.Argument(
        metavar="ROADMAP", help="The roadmap. Default: ROADMAP.md in this or a parent folder.", callback=remember
    ),
]
RoadmapOption = Annotated[
    Path | None,
    typer.Option(
        "--roadmap",
        metavar="FILE",
        help="The roadmap. Default: ROADMAP.md in this or a parent folder.",
        callback=remember,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NetworkOption = Annotated[
    str | None,
    typer.Option(
        "--network", metavar="NETWORK", help="Allowed network access: none, loopback, open, or hosts (a.org,b.org)."
    ),
]
TaskId = Annotated[str, typer.Argument(metavar="TASK", help="The task's id, as plan and log print it.")]
Graph = Literal["mermaid", "dot"]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="ORDER", help="free: as dependencies allow. outline: in the roadmap's order. Overrides plan.order."
    ),
]
Dialect = Annotated[
    str | None,
    typer.Option(metavar="DIALECT", help="The roadmap's format: boxes, emoji, table, … Overrides roadmap.dialect."),
]
Group = Annotated[
    str | None,
    typer.Option(metavar="GROUPS", help="Do small tasks in one attempt: none, section, smart. Overrides plan.group."),
]
