"""How the help is laid out: commands by what one wants to do, and no type where an option takes no value."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandInfo

PANELS = {
    "Get started": ("demo", "init", "doctor", "settings", "roadmap"),
    "Run a roadmap": ("plan", "run", "resume", "status", "stop", "pause", "steer", "retry"),
    "See what was done, and the proof": (
        "proof",
        "log",
        "attempts",
        "diff",
        "verify",
        "report",
        "web",
        "costs",
        "events",
        "failures",
    ),
    "Answer a run's questions": ("gates", "approve", "reject", "edit", "skip", "delegate", "accept"),
    "Package, deploy and watch": (
        *("package", "deploy", "releases", "rollback", "scale", "logs", "targets", "watch", "alerts", "incidents"),
    ),
    "Undo and clean up": ("undo", "restore", "mark", "marks", "sync", "clean", "adopt"),
    "Several projects, machines and programs": ("projects", "together", "worker", "mcp"),
    "More tools": (
        "patterns",
        "context",
        "start",
        "sh",
        "exec",
        "replay",
        "bench",
        "chaos",
        "memory",
        "service",
        "completion",
    ),
}


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types_of_flags(super().get_params(ctx))


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types_of_flags(super().get_params(ctx))


def arrange(app: typer.Typer) -> None:
    """Put every command into its panel, in that order; to be called when all of them are registered."""
    panels = {name: panel for panel, names in PANELS.items() for name in names}
    order = list(panels)
    app.registered_commands.sort(key=lambda command: order.index(_name(command)))
    for command in app.registered_commands:
        command.rich_help_panel = panels[_name(command)]
    for group in app.registered_groups:
        group.rich_help_panel = panels[str(group.name)]
    for part in (app, *(group.typer_instance for group in app.registered_groups if group.typer_instance)):
        part.info.cls = _Group
        for command in part.registered_commands:
            command.cls = _Command


def named_alone(app: typer.Typer, words: Sequence[str]) -> typer.Typer:
    """The app with no command but the one that is called: making all of them takes longer than most commands do."""
    commands = [command for command in app.registered_commands if [_name(command)] == [*words[:1]]]
    groups = [group for group in app.registered_groups if [group.name] == [*words[:1]]]
    if not commands and not groups:
        return app
    alone = copy(app)
    alone.registered_commands, alone.registered_groups = commands, groups
    return alone


def _name(command: CommandInfo) -> str:
    return command.name or str(getattr(command.callback, "__name__", ""))


def _without_types_of_flags(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters
