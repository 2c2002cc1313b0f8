"""Answering a run: what waits for a person, and the commands that decide it, also while the run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import milepost
from milepost.cli.arguments import Json, RoadmapOption
from milepost.cli.output import print_json, terminal_width

Answer = Literal["approve", "reject", "edit", "skip", "delegate"]
Named = Annotated[
    str | None,
    typer.Argument(metavar="TASK|GATE", help="A task, or a gate as gates prints it. Default: the only one."),
]
Digest = Annotated[str, typer.Option(metavar="HEX", help="Only if it is still about what was shown under this digest.")]
Address = Annotated[
    str, typer.Option("--database", metavar="URL", help="The database of the run, where other machines share it.")
]


def register(app: typer.Typer) -> None:
    for command in (gates, approve, reject, edit, skip, delegate):
        app.command()(command)


def gates(
    roadmap: RoadmapOption = None,
    database: Address = "",
    whole: Annotated[bool, typer.Option("--whole", help="All of what each question is about.")] = False,
    as_json: Json = False,
) -> None:
    """What waits for you: each question, what it is about, and how to answer it."""
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
    """Say yes: the task begins, its work lands, or the command runs."""
    _answer("approve", gate, "", digest, roadmap, database, as_json)


def reject(
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why not; the agent is told.")],
    gate: Named = None,
    digest: Digest = "",
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Say no: a task does not begin, its work is tried again, a command is refused."""
    _answer("reject", gate, reason, digest, roadmap, database, as_json)


def edit(
    text: Annotated[str, typer.Option(metavar="TEXT", help="What is to be done, or done otherwise.")],
    gate: Named = None,
    digest: Digest = "",
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Add to what a task is to do, for this run, and go on."""
    _answer("edit", gate, text, digest, roadmap, database, as_json)


def skip(
    gate: Named = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the record.")] = "",
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Leave a task out; work that was done stays on its ref."""
    _answer("skip", gate, reason, "", roadmap, database, as_json)


def delegate(
    agent: Annotated[str, typer.Option(metavar="NAME", help="Any name of an agent.")],
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
        print_json(milepost.gate_to_json(kept))
        return
    goes_on = bool(database) or milepost.running(roadmap) is not None
    typer.echo("\n".join(answered_lines(kept, running=goes_on)))
