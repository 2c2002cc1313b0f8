"""What is asked of a run: the same as keywords, as a value and as words of the command line."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import get_type_hints

import typer

import milepost
from milepost.api.detached.request import StartRequest, new_run
from milepost.cli.main import app
from milepost.engine.records.run_request import RunOptions, RunRequest, command_of

WISH = RunRequest(
    roadmap=Path("api/ROADMAP.md"),
    agent="command:./agent --fast",
    tasks=("1.1", "1.2"),
    max_tasks=3,
    new=True,
    parallel=2,
    trust="isolated",
    network="a.org,b.org",
    budget_usd=0.25,
    approve="risky",
    ordered=True,
    order="outline",
    group="smart",
    dialect="emoji",
    memory="read-only",
    held=True,
    met=("web:1.2",),
)


def test_what_may_be_asked_by_keyword_is_what_a_wish_holds_and_what_help_tells() -> None:
    asked, held = get_type_hints(RunOptions), get_type_hints(RunRequest)
    assert asked == {name: kind for name, kind in held.items() if name not in ("roadmap", "agent")}
    told = {line.split()[0] for line in (milepost.run.__doc__ or "").splitlines() if line.startswith(" " * 8)}
    assert told == set(asked)


def test_the_command_line_understands_the_command_of_a_wish_and_is_told_no_address() -> None:
    command, *words = command_of(replace(WISH, database="postgresql://user:secret@host/db", remote="origin"))
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    run = group.commands[command]
    given = run.make_context(command, list(words)).params
    names = {"tasks": "task", "budget_usd": "budget"}
    for one in fields(RunRequest):
        value = getattr(WISH, one.name)
        understood = given[names.get(one.name, one.name)]
        assert (tuple(understood) if isinstance(value, tuple) else understood) == value
    assert given["as_json"]
    assert command_of(RunRequest()) == ("run", "--json")


def test_a_wish_reaches_a_process_of_its_own_as_it_was_asked() -> None:
    wish = new_run(Path("/project/ROADMAP.md"), agent="tool", stays=True, tasks=("1.1",), group="none", budget_usd=1.5)
    told = wish.model_dump_json(exclude_defaults=True)
    assert StartRequest.model_validate_json(told) == wish
    assert wish.wish == RunRequest(agent="tool", tasks=("1.1",), group="none", budget_usd=1.5)
