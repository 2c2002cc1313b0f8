import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent.parent / "todo.py"


def todo(*words):
    return subprocess.run([sys.executable, PROGRAM, *map(str, words)], capture_output=True, text=True)


def test_entries_are_added_and_ticked(tmp_path):
    file = tmp_path / "list"
    todo(file, "add", "buy tea")
    todo(file, "add", "drink it")
    assert todo(file, "done", 1).returncode == 0
    assert todo(file, "list").stdout == "1 [x] buy tea\n2 [ ] drink it\n"
