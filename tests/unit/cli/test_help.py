"""The help: every command in a panel, and nothing said of types where an option takes no value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from milepost.cli.help import PANELS, named_alone
from milepost.cli.main import app


def shown(*words: str) -> str:
    return CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}).output


def test_every_command_stands_in_a_panel_in_the_order_of_the_panel() -> None:
    page = shown()
    assert "─ Commands ─" not in page
    rows = [line.split()[1] for line in page.splitlines() if line.startswith("│ ") and line[2] not in " -"]
    assert sorted(rows) == sorted(name for names in PANELS.values() for name in names)
    assert rows.index("demo") < rows.index("plan") < rows.index("run") < rows.index("proof") < rows.index("undo")


@pytest.mark.parametrize("words", [(), ("run",), ("undo",), ("memory",)])
def test_the_help_names_no_type_of_a_flag_and_no_brackets_twice(words: tuple[str, ...]) -> None:
    page = shown(*words)
    assert "Show this message and exit." in page
    assert "<bool>" not in page and "[[" not in page
    assert all(len(line) <= 80 for line in page.splitlines())


def test_no_help_names_a_section_in_brackets_which_a_terminal_would_read_as_markup() -> None:
    options = [parameter for command in commands(typer.main.get_command(app)) for parameter in command.params]
    assert len(options) > 200
    assert [name for one in options if "[" in (name := getattr(one, "help", None) or "")] == []


@pytest.mark.parametrize("words", [("plan",), ("memory", "show"), ("status", "--json")])
def test_of_the_commands_only_the_one_that_is_called_is_made(words: tuple[str, ...]) -> None:
    alone = typer.main.get_command(named_alone(app, words))
    assert list(alone.commands) == [words[0]]  # type: ignore[attr-defined]
    assert len(typer.main.get_command(app).commands) > 50  # type: ignore[attr-defined]


@pytest.mark.parametrize("words", [(), ("--help",), ("nothing",), ("--version", "plan")])
def test_where_no_command_is_called_all_are_there(words: tuple[str, ...]) -> None:
    assert named_alone(app, words) is app


def commands(group: Any) -> Iterator[Any]:
    for command in group.commands.values():
        yield from commands(command) if hasattr(command, "commands") else (command,)
