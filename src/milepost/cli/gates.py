"""Answering a run: what waits for a person, and the commands that decide it, also while the run goes on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

import milepost
import milepost.gates
from milepost import runs
from milepost.cli.arguments import Json, RoadmapOption
from milepost.cli.output import print_json, print_lines, terminal_width

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
    for command in (gates, approve, reject, edit, skip, delegate, accept):
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
    print_lines("\n".join(gates_lines(waiting, terminal_width(), whole=whole, where=where)))


def approve(
    gate: Named = None,
    digest: Digest = "",
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Say yes: the task starts, its work is merged, or the command runs. Held work of a finished run lands at once."""
    _answer("approve", gate, "", digest, roadmap, database, as_json)


def reject(
    gate: Named = None,
    why: Annotated[str, typer.Argument(metavar="TEXT", help="The same as --reason.")] = "",
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why not. The agent gets to see it.")] = "",
    digest: Digest = "",
    roadmap: RoadmapOption = None,
    database: Address = "",
    as_json: Json = False,
) -> None:
    """Say no: the task does not start, its work is redone, or the command is refused."""
    _answer("reject", gate, reason or why, digest, roadmap, database, as_json)


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


def accept(
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="The task whose held or unverified work you take.")
    ] = None,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the record.")] = "",
    all_of_them: Annotated[
        bool, typer.Option("--list", help="Go through all such work, with its question and diff.")
    ] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Take held or unverified work as it is. Its milepost says that you accepted it, and that nothing proves it."""
    from milepost.cli.show.accept import acceptable_lines, acceptable_to_json, accepted_lines, accepted_to_json

    if all_of_them == (task is not None):
        raise milepost.Misuse("name the task to accept, or --list to go through all", "milepost accept --list")
    if task is not None:
        taken = milepost.gates.accept(task, roadmap, why=why)
        if as_json:
            print_json(accepted_to_json(taken))
        else:
            print_lines("\n".join(accepted_lines(taken)))
        return
    found = milepost.gates.acceptable(roadmap)
    if as_json:
        print_json([acceptable_to_json(one) for one in found])
    elif not (sys.stdin.isatty() and sys.stdout.isatty()):
        print_lines("\n".join(acceptable_lines(found, terminal_width())))
    else:
        _go_through(found, roadmap, why)


def _go_through(found: tuple[milepost.gates.Acceptable, ...], roadmap: Path | None, why: str) -> None:
    """Ask about each work in turn: yes takes it, no leaves it, q ends."""
    from milepost.cli.show.accept import accepted_lines, work_lines

    for number, one in enumerate(found, 1):
        print_lines("\n".join([f"{number} of {len(found)}", *work_lines(one, terminal_width()), ""]))
        answer = ""
        while answer not in ("y", "n", "q"):
            answer = typer.prompt(f"accept {one.task}? y, n or q", default="n").strip().lower()[:1]
        if answer == "q":
            return
        if answer == "y":
            print_lines("\n".join([*accepted_lines(milepost.gates.accept(one.task, roadmap, why=why)), ""]))
    print_lines("nothing waits to be accepted" if not found else "that was all")


def _answer(
    answer: Answer, gate: str | None, text: str, digest: str, roadmap: Path | None, database: str, as_json: bool
) -> None:
    from milepost.cli.show.gates import answered_lines

    kept = milepost.answer_gate(gate, answer, text, roadmap, digest=digest, database=database)
    if as_json:
        print_json(milepost.gates.to_json(kept))
        return
    goes_on = bool(database) or runs.current(roadmap) is not None
    print_lines("\n".join(answered_lines(kept, running=goes_on)))
