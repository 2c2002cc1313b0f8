import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def todo(result, tmp_path):
    def call(*words):
        argv = [sys.executable, Path(result) / "todo.py", tmp_path / "list", *map(str, words)]
        return subprocess.run(argv, capture_output=True, text=True)

    return call


def test_no_file_is_an_empty_list(todo):
    done = todo("list")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("number", [0, 2, -1])
def test_entries_that_are_not_there(todo, number):
    todo("add", "tea")
    done = todo("done", number) if number >= 0 else todo("done", "--", number)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip() and "Traceback" not in done.stderr


def test_unknown_commands(todo):
    assert todo("drink").returncode == 2


def test_ticking_twice_is_fine(todo):
    todo("add", "ü tea")
    todo("done", 1)
    assert todo("done", 1).returncode == 0
    assert todo("list").stdout == "1 [x] ü tea\n"
