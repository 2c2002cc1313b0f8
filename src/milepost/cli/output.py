"""How a command answers: in JSON for machines, in lines for people, as wide as their terminal."""

from __future__ import annotations

import json
from collections.abc import Callable

import typer


def answer(as_json: bool, plain: Callable[[], object], lines: Callable[[], list[str]]) -> None:
    """Print one of the two."""
    if as_json:
        print_json(plain())
    else:
        typer.echo("\n".join(lines()))


def print_json(plain: object) -> None:
    """The answer for machines."""
    typer.echo(json_text(plain))


def json_text(plain: object) -> str:
    """JSON that can be written as UTF-8: half a character, which an attempt may leave anywhere, is escaped."""
    return json.dumps(plain, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def terminal_width() -> int:
    """How many columns people see."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns
