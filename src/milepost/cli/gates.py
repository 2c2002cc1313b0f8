"""Answering a run: what waits for a person, and the commands that decide it, also while the run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import milepost
import milepost.gates
from milepost import runs
from milepost.cli.arguments import Json, RoadmapOption
from milepost.cli.output import print_json, terminal_width

Answer = Literal["approve", "reject", "edit", "skip", "delegate"]
Named = Annotated[
    str | None,
    typer.Argument(
        metavar="TASK|GATE", help="The task or gate, as milepost gates prints it. Default: the only open one."
    ),
]
Digest = Annotated[
    str, typer.Option(metavar="HEX", help="Only answer if the gate still shows what it showed under this digest.")
]
Address = Annotated[str, typer.Option("--database", metavar="URL", help="The run's database, if workers share it.")]


def register(app: typer.Typer) -> None:
    for command in (gates, approve, reject, edit, skip, delegate):
        app.command()(command)


def gates(
    roadmap: RoadmapOption = None,
    database: Address = "",
    whole: Annotated[
        bool, typer.Option("--whole", help="Show everything each question is about, not just the first lines.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the questions waiting for you, what they are about, and how to answer them."""
    from milepost.cli.show.gates import gate_with_commands, gates_lines, where_words

    waiting, where = milepost.waiting_gates(roadmap, database=database), where_words(roadmap, database)
    if as_json:
        print_json([gate_with_commands(gate, where) for gate in waiting])
        return
    typer.echo("\n".join(gates_lines(waiting, terminal_width(), whole=whole, where=where)))


def approve(
    gate: Named = None,
    digest: Digest = "",
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Say yes: the task starts, its work is merged, or the command runs."""
    _answer("approve", gate, "", digest, roadmap, database, as_json)


def reject(
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why not. The agent gets to see it.")],
    gate: Named = None,
    digest: Digest = "",
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Say no: the task does not start, its work is redone, or the command is refused."""
    _answer("reject", gate, reason, digest, roadmap, database, as_json)


def edit(
    text: Annotated[str, typer.Option(metavar="TEXT", help="What the agent should do, or do differently.")],
    gate: Named = None,
    digest: Digest = "",
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Add instructions to a task, for this run only, and continue."""
    _answer("edit", gate, text, digest, roadmap, database, as_json)


def skip(
    gate: Named = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the record.")] = "",
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Skip a task. Work already done stays on its ref."""
    _answer("skip", gate, reason, "", roadmap, database, as_json)


def delegate(
    agent: Annotated[str, typer.Option(metavar="NAME", help="The other agent, as for run --agent.")],
    gate: Named = None,
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Give a task to another agent."""
    _answer("delegate", gate, agent, "", roadmap, database, as_json)


def _answer(
    answer: Answer, gate: str | None, text: str, digest: str, roadmap: Path | None, database: str, as_json: bool
) -> None:
    from milepost.cli.show.gates import answered_lines

    kept = milepost.answer_gate(gate, answer, text, roadmap, digest=digest, database=database)
    if as_json:
        print_json(milepost.gates.to_json(kept))
        return
    goes_on = bool(database) or runs.current(roadmap) is not None
    typer.echo("\n".join(answered_lines(kept, running=goes_on)))
