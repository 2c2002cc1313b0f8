"""The commands about releases: deploy, releases, rollback, scale, logs, targets."""

from __future__ import annotations

import getpass
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from milepost import releases
from milepost.cli.arguments import Json, RoadmapOption
from milepost.cli.exit_codes import DONE, NOT_DONE
from milepost.cli.output import answer, print_json, print_lines, terminal_width

Target = Annotated[str, typer.Argument(metavar="TARGET", help="A target of milepost.toml; `local` is always one.")]
Environment = Annotated[
    str, typer.Option("--env", metavar="ENV", help="dev, staging or prod: each has its own releases.")
]


def register(app: typer.Typer) -> None:
    for command in (deploy, list_releases, rollback, scale, logs, targets):
        app.command(name="releases" if command is list_releases else None)(command)


def teller() -> Callable[[releases.ReleaseRecord], None]:
    """Tells each stage that a release reaches, with the time since the first that it tells."""
    from milepost.cli.show.releases import move_line

    began: list[float] = []

    def tell(record: releases.ReleaseRecord) -> None:
        began.append(time.monotonic())
        print_lines(move_line(record, began[-1] - began[0]), err=True)

    return tell


def ask_person(record: releases.ReleaseRecord) -> str | None:
    """Whose word lets a release go on; None where nobody sits at a terminal."""
    from milepost.cli.show.releases import question_lines

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    print_lines("\n".join(question_lines(record)), err=True)
    agreed = typer.confirm(f"Deploy it to {record.spec.environment}?", default=False, err=True)
    return getpass.getuser() if agreed else ""


def resume_interrupted(roadmap: Path | None, *, as_json: bool) -> int:
    """Go on with releases that were interrupted, and tell what each came to; the exit code of all."""
    from milepost.cli.show.releases import end_lines

    done = releases.resume(roadmap, ask=ask_person, on_move=teller())
    for record in done:
        print_lines(json.dumps(releases.to_json(record)) if as_json else "\n".join(end_lines(record)))
    return DONE if all(record.stage == releases.Stage.LIVE for record in done) else NOT_DONE


def deploy(
    target: Target,
    environment: Environment = "dev",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be deployed, and deploy nothing.")
    ] = False,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Deploy also what no milepost proves; the record says so.")
    ] = False,
    artifact: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Deploy this wheel, npm package, site or program instead of building one."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve it, where a person is asked before.")] = False,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Deploy the current commit, a milepost, and take it back if it is not well.

    After an interruption the same command goes on where it stopped.
    """
    from milepost.cli.show import releases as show

    if dry_run:
        plan = releases.preview(target, roadmap, environment=environment, artifact=artifact)
        answer(as_json, lambda: show.plan_to_json(plan), lambda: show.plan_lines(plan, unproven=unproven))
        raise typer.Exit(NOT_DONE if plan.standing.problem and not unproven else DONE)

    def ask(record: releases.ReleaseRecord) -> str | None:
        return f"{getpass.getuser()}, with --yes" if yes else ask_person(record)

    try:
        record = releases.deploy(
            target, roadmap, environment=environment, unproven=unproven, artifact=artifact, ask=ask, on_move=teller()
        )
    except KeyboardInterrupt:
        print_lines("interrupted; nothing is lost: the same command goes on, milepost rollback takes it back", err=True)
        raise
    answer(as_json, lambda: releases.to_json(record), lambda: show.end_lines(record))
    raise typer.Exit(DONE if record.stage == releases.Stage.LIVE else NOT_DONE)


def rollback(
    target: Target,
    environment: Environment = "dev",
    to: Annotated[
        int | None, typer.Option(metavar="RELEASE", help="Go back to this release, which was live before.")
    ] = None,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Switch back to the release before, or take back the one that is being deployed."""
    from milepost.cli.show import releases as show

    record = releases.rollback(target, roadmap, environment=environment, to=to, on_move=teller())
    answer(as_json, lambda: releases.to_json(record), lambda: show.end_lines(record))


def list_releases(
    target: Target = "local",
    environment: Environment = "dev",
    number: Annotated[
        int | None, typer.Option("--release", metavar="N", help="Show what happened to this release, step by step.")
    ] = None,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """List the releases of a target, newest first."""
    from milepost.cli.show import releases as show

    if number is not None:
        moves = releases.life(target, number, roadmap, environment=environment)
        answer(as_json, lambda: [releases.event_to_json(move) for move in moves], lambda: show.moves_lines(moves))
        return
    found = releases.of_target(target, roadmap, environment=environment)
    answer(
        as_json,
        lambda: [releases.to_json(record) for record in found],
        lambda: show.release_lines(found, target, environment, terminal_width()),
    )


def scale(
    target: Target,
    instances: Annotated[
        int, typer.Argument(metavar="N", min=0, max=1000, help="How many instances. 0 stops a local target.")
    ],
    environment: Environment = "dev",
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Run more or fewer instances of the live release."""
    from milepost.cli.show import releases as show

    record = releases.scale(target, instances, roadmap, environment=environment)
    said = f"release {record.number} on {target} ({environment}) now has {instances} instances"
    again = show.deploy_command(record)
    stopped = f"{target} ({environment}) is stopped · start it again:   {again}"
    answer(as_json, lambda: releases.to_json(record), lambda: [said if instances else stopped])


def logs(
    target: Target,
    environment: Environment = "dev",
    number: Annotated[int | None, typer.Option("--release", metavar="N", help="Default: the live release.")] = None,
    lines: Annotated[int, typer.Option(metavar="N", min=1, help="How many lines of each instance.")] = 100,
    roadmap: RoadmapOption = None,
    as_json: Json = False,
) -> None:
    """Print what a release printed last."""
    from milepost.cli.format_text import safe

    text = releases.logs(target, roadmap, environment=environment, number=number, lines=lines)
    if as_json:
        print_json({"log": text})
    elif text:
        print_lines("\n".join(safe(line) for line in text.splitlines()))
    else:
        print_lines("nothing was printed, or nothing of it was started", err=True)


def targets(roadmap: RoadmapOption = None, as_json: Json = False) -> None:
    """List the targets, with what is live on each and whether it is healthy."""
    from milepost.cli.show import releases as show

    found = releases.targets(roadmap)
    answer(as_json, lambda: show.targets_to_json(found), lambda: show.target_lines(found, terminal_width()))
