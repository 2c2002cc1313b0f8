"""`milepost exec`: code in a file, at a level, in the language that the file is named for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import milepost
from milepost import executors
from milepost.core.commands import TrustLevel
from milepost.sandbox.levels import ladder

HOLDS = {report.level: report.ok for report in ladder()}
needs_rooms = pytest.mark.skipif(not HOLDS[TrustLevel.SANDBOXED], reason="this machine holds no sandboxed level")


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


CHANGING = 'import os; open("a", "w").write("new\\n"); open("b", "a").write("more\\n"); os.remove("c"); print("said")'
CHANGES = [{"path": "a", "kind": "added"}, {"path": "b", "kind": "changed"}, {"path": "c", "kind": "deleted"}]


@needs_rooms
def test_changes_to_a_workspace_are_told_and_dropped_unless_they_are_accepted(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for name in ("b", "c"):
        (work / name).write_text(f"{name}\n")
    argv = [sys.executable, "-m", "milepost", "exec", "--workspace", str(work), "-"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*argv, *words], input=CHANGING, capture_output=True, text=True, check=True)

    shown = run("--diff")
    told, patch = shown.stderr.splitlines(), shown.stdout
    assert told == ["added a", "changed b", "deleted c", "discarded 3 changes: --accept applies them to the workspace"]
    assert patch.startswith("said\n--- /dev/null\n+++ b/a\n") and "\n b\n+more\n" in patch and "\n-c\n" in patch
    assert sorted(path.name for path in work.iterdir()) == ["b", "c"]
    accepted = json.loads(run("--accept", "--json").stdout)
    assert (accepted["changes"], accepted["accepted"], accepted["forged"]) == (CHANGES, True, False)
    assert {path.name: path.read_text() for path in work.iterdir()} == {"a": "new\n", "b": "b\nmore\n"}


@needs_rooms
def test_the_library_gives_the_changes_to_whoever_asks_for_them(tmp_path: Path) -> None:
    given: list[tuple[str, str]] = []

    def look(changes: executors.Changes) -> None:
        given.extend((change.kind, str(change.path)) for change in changes.list())

    for on_changes in (look, None):
        result = milepost.execute('open("a", "w")', trust="sandboxed", workspace=tmp_path, on_changes=on_changes)
        assert result.succeeded
    assert given == [("added", "a")] and not list(tmp_path.iterdir())
    milepost.execute('open("a", "w")', trust="isolated", workspace=tmp_path, on_changes=look)
    assert len(given) == 1 and (tmp_path / "a").exists(), "isolated code changes the folder itself"


@needs_rooms
def test_changes_of_code_that_was_ended_are_said_to_be_gone(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "milepost", "exec", "--workspace", str(tmp_path), "--timeout", "0.2", "-"]
    code = "open('a', 'w')\nwhile True: pass"
    shown = subprocess.run(argv, input=code, capture_output=True, text=True)
    assert shown.returncode == 1 and not list(tmp_path.iterdir())
    assert shown.stderr.splitlines()[-1] == "its changes to the workspace were discarded"


@needs_rooms
def test_changes_of_git_are_not_accepted_and_a_line_says_so(tmp_path: Path) -> None:
    work = tmp_path / "work"
    subprocess.run(["git", "init", "--quiet", str(work)], check=True)
    code = """
import os
open("honest", "w").write("work")
os.makedirs("sub/.git/hooks")
open("sub/.git/hooks/post-commit", "w").write("evil")
open(".git/hooks/post-commit", "w").write("evil")
"""
    argv = [sys.executable, "-m", "milepost", "exec", "--workspace", str(work), "-"]
    shown = subprocess.run([*argv, "--accept"], input=code, capture_output=True, text=True)
    told = shown.stderr.splitlines()
    assert shown.returncode == 1 and "Read-only file system" in told[0]
    assert told[-2:] == [
        "not accepted: sub/.git and 2 more changes: code in the sandbox never changes .git or .milepost",
        "accepted 2 changes",
    ]
    assert (work / "honest").read_text() == "work"
    assert not (work / "sub/.git").exists() and not (work / ".git/hooks/post-commit").exists()


def test_code_at_isolated_cannot_write_a_hook_of_its_workspace(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    code = 'open(".git/hooks/post-commit", "w").write("evil")'
    argv = [sys.executable, "-m", "milepost", "exec", "--trust", "isolated", "--workspace", str(tmp_path), "-"]
    shown = subprocess.run(argv, input=code, capture_output=True, text=True)
    assert shown.returncode == 1 and not (tmp_path / ".git/hooks/post-commit").exists()
