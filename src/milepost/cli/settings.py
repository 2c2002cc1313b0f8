"""The settings commands, and the question that is put before settings of a repository take effect."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import typer

from milepost import machines
from milepost.cli.arguments import Roadmap
from milepost.cli.exit_codes import DONE, NOT_DONE
from milepost.cli.output import print_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from milepost.machines import AskedSetting, SettingsQuestion

AGREED = "agreed to exactly these values, in this repository on this machine"
YES_OPTION, YES_VARIABLE = "--yes-settings", "MILEPOST_YES_SETTINGS"

group = typer.Typer(
    help="Which settings of this repository you agreed to: those that reach keys, hosts or files outside of it.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="settings")


@group.command()
def agree(roadmap: Roadmap = None) -> None:
    """Show what the repository sets that needs your agreement, and agree to it. Changed values ask again."""
    if os.environ.get(YES_VARIABLE):
        machines.agree_to_settings(roadmap)
        print_lines(AGREED)
        raise typer.Exit(DONE)
    waiting = machines.unanswered_settings(roadmap)
    if not waiting:
        print_lines("nothing waits for your agreement here")
        raise typer.Exit(DONE)
    if not is_agreed(waiting):
        print_lines("not agreed: commands that use these settings are refused", err=True)
        raise typer.Exit(NOT_DONE)
    for question in waiting:
        question.agree()
    print_lines(AGREED)


@group.command()
def forget(roadmap: Roadmap = None) -> None:
    """Withdraw what you agreed to in this repository."""
    machines.withdraw_settings(roadmap)
    print_lines("forgotten: settings that reach beyond the repository are asked about again")


def is_agreed(questions: Sequence[SettingsQuestion]) -> bool:
    """Show a person what is wanted, and ask; nobody answers for them where there is no terminal."""
    from milepost.cli.format_text import safe

    for question in questions:
        print_lines(f"{safe(question.file)} sets what needs your agreement on this machine:\n", err=True)
        for line in question_lines(question.asked):
            print_lines(safe(line), err=True)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm("\nAgree to exactly these values?", default=False, err=True)


def question_lines(asked: Sequence[AskedSetting]) -> list[str]:
    """What was agreed to before and what is wanted now, as a diff, each with what it does."""
    lines = []
    for one in asked:
        lines += [f"  - {one.key} = {one.was}"] if one.was else []
        lines += [f"  + {one.key} = {one.now}", f"      this {one.does}"] if one.now else []
    return lines
