"""`milepost exec`: code in a file, at a level, in the language that the file is named for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("name", "code", "words", "value", "enforced"),
    [
        ("a.ts", "const x: number = 41; await null; x + 1", ("--trust", "isolated"), 42, "no-permissions"),
        ("a.mjs", "finalAnswer(6 * 7)", ("--trust", "isolated"), 42, "no-permissions"),
        ("a.py", "final_answer(6 * 7)", ("--trust", "local"), 42, "interpreter"),
        ("a.txt", "final_answer(6 * 7)", ("--trust", "isolated", "--lang", "python"), 42, "process-tree"),
    ],
)
def test_code_is_run_in_its_language_at_the_level_asked_for(
    tmp_path: Path, name: str, code: str, words: tuple[str, ...], value: int, enforced: str
) -> None:
    (tmp_path / name).write_text(code)
    argv = [sys.executable, "-m", "milepost", "exec", "--json", *words, str(tmp_path / name)]
    told = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    assert (told["error"], told["final_value"], told["termination"]) == (None, value, "exited")
    assert enforced in told["enforced"]


def test_a_person_is_shown_the_value_beside_the_output(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("console.log('said'); [1, 2]")
    argv = [sys.executable, "-m", "milepost", "exec", "--trust", "isolated", "--memory", "64", str(tmp_path / "a.ts")]
    shown = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert (shown.stdout, shown.stderr) == ("said\n", "value: [1, 2]\n")


def test_neither_interpreter_is_loaded_by_asking_for_help() -> None:
    heavy = "[name for name in sys.modules if name.startswith(('pydantic_monty', 'tree_sitter'))]"
    code = f"import sys, milepost.cli.main; print({heavy})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
