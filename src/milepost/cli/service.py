"""The service commands: a unit of systemd that continues runs after a restart of the machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

from milepost import machines
from milepost.cli.arguments import Json
from milepost.cli.exit_codes import DONE
from milepost.cli.format_text import clock_time, countdown, counted, from_here, safe
from milepost.cli.output import answer, print_lines

if TYPE_CHECKING:
    from milepost.machines import InterruptedRun, ServiceState

group = typer.Typer(
    help="Continue runs after a restart of the machine: those that waited for a service, or were at work.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="service")


@group.command()
def install() -> None:
    """Install a user unit of systemd that continues interrupted runs when you log in or the machine starts."""
    print_lines("\n".join(state_lines(machines.install_service())))


@group.command()
def uninstall() -> None:
    """Remove the unit. Runs stay as they are."""
    print_lines("the service is removed" if machines.uninstall_service() else "the service is not installed")


@group.command()
def status(as_json: Json = False) -> None:
    """Show whether the service is installed, and which runs are interrupted."""
    found = machines.service_state()
    answer(as_json, lambda: state_to_json(found), lambda: state_lines(found))


@group.command()
def run() -> None:
    """Continue the runs that a restart of the machine interrupted. The unit starts this."""
    if not machines.continue_runs(lambda line: print_lines(safe(line), err=True)):
        print_lines("nothing to continue: no run was interrupted by a restart", err=True)
    raise typer.Exit(DONE)


def state_lines(state: ServiceState) -> list[str]:
    """How the service stands, what is missing, and the runs that are interrupted."""
    if not state.installed:
        lines = ["the service is not installed", "next   milepost service install"]
    elif not state.enabled:
        lines = [
            f"the service is installed but not enabled: {from_here(state.unit)}",
            "next   milepost service install",
        ]
    else:
        lines = [f"the service is installed: {from_here(state.unit)}"]
        lines.append(
            "it starts with the machine"
            if state.lingers
            else "it starts when you log in; to start it with the machine: loginctl enable-linger"
        )
        lines.append("keys that agents need, as NAME=value lines (chmod 600): ~/.config/milepost/service.env")
    if state.interrupted:
        lines += ["", f"{counted(len(state.interrupted), 'interrupted run')}", *map(_run_line, state.interrupted)]
    return lines


def state_to_json(state: ServiceState) -> dict[str, Any]:
    return {
        "unit": str(state.unit),
        "installed": state.installed,
        "enabled": state.enabled,
        "lingers": state.lingers,
        "interrupted": [
            {
                "run": one.run,
                "roadmap": str(one.roadmap),
                "goes_on_at": one.goes_on_at,
                "after_restart": one.after_restart,
            }
            for one in state.interrupted
        ],
    }


def _run_line(one: InterruptedRun) -> str:
    left_s = (one.goes_on_at or 0.0) - time.time()
    when = (
        f" · goes on at {clock_time(one.goes_on_at)}, in {countdown(left_s)}" if one.goes_on_at and left_s > 0 else ""
    )
    how = "the service continues it" if one.after_restart else "milepost resume --at-reset continues it"
    return f"  {one.run}  {safe(from_here(one.roadmap))}{when} · {how}"
