"""What is printed: nothing that a terminal would obey, whoever wrote it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from milepost import RunStarted, cli
from milepost.cli.live_display import LiveDisplay
from milepost.cli.output import json_text, print_lines

HOSTILE = "br\x1b[2J\x9b31m\x9d0;title\x9c\u202ex\u2066y\r"
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# What prints otherwise: a script for a shell, a text that goes into a file, and a clock that goes back in its line.
_RAW = {"output.py", "completion.py", "report.py", "roadmap.py", "run.py"}


def test_lines_keep_their_ends_and_lose_what_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(f"one {HOSTILE}\n\ttwo ✓ é")
    print_lines(HOSTILE, err=True)
    out, err = capsys.readouterr()
    assert out == "one br[2J31m0;titlexy\n\ttwo ✓ é\n"
    assert not _OBEYED.search(err)


def test_json_is_the_same_value_and_has_them_escaped() -> None:
    value = {HOSTILE: ["é ✓", HOSTILE, "\udc80", "\U000e0041"]}
    text = json_text(value)
    assert json.loads(text) == value
    assert not _OBEYED.search(text) and "é ✓" in text
    text.encode()


def test_the_name_of_a_branch_directs_no_terminal_in_a_live_run() -> None:
    shown = io.StringIO()
    display = LiveDisplay(Console(file=shown, width=200))
    display(
        RunStarted(
            run="ab12",
            branch="milepost/ab12",
            base="0" * 40,
            base_name=HOSTILE,
            ahead="",
            agent="tool",
            trust="local",
            parallel=1,
            tasks=(),
        )
    )
    assert "from br[2J31m0;titlexy 0000000" in shown.getvalue()
    assert not _OBEYED.search(shown.getvalue())


def test_every_command_prints_through_this_door() -> None:
    folder = Path(cli.__file__).parent
    others = {file.name for file in folder.rglob("*.py") if "typer.echo(" in file.read_text(encoding="utf-8")}
    assert others == _RAW
