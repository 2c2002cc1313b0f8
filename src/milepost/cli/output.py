"""How a command answers: in JSON for machines, in lines for people, as wide as their terminal."""

from __future__ import annotations

import json
from collections.abc import Callable

import typer

from milepost.cli.format_text import safe, safe_lines


def answer(as_json: bool, plain: Callable[[], object], lines: Callable[[], list[str]]) -> None:
    """Print one of the two."""
    if as_json:
        print_json(plain())
    else:
        print_lines("\n".join(lines()))


def print_lines(text: str, *, err: bool = False) -> None:
    """Print lines for people: what a terminal would obey is not in them, whoever wrote it."""
    typer.echo(safe_lines(text), err=err)


def print_json(plain: object) -> None:
    """The answer for machines."""
    typer.echo(json_text(plain))


def json_text(plain: object) -> str:
    """JSON as it can be written: what a terminal would obey is escaped, and half a character."""
    return "\n".join(map(_escaped, json.dumps(plain, indent=2, ensure_ascii=False).split("\n")))


def _escaped(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(sign if safe(sign) else json.dumps(sign)[1:-1] for sign in line)


def terminal_width() -> int:
    """How many columns people see."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns
