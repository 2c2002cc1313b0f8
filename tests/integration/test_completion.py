"""Shells complete commands and options from the command line alone: the repository is not looked at."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import need

PROGRAM = f"#!/bin/sh\nexec '{sys.executable}' -P -m milepost \"$@\"\n"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which `milepost` is a program of this interpreter."""
    program = tmp_path / "bin" / "milepost"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}


def completed(words: str, environment: dict[str, str], folder: Path) -> list[str]:
    """What bash offers for the last of these words, after it read what we print."""
    at = len(words.split(" ")) - 1
    script = f"""eval "$(milepost completion bash)"
COMP_WORDS=({words if not words.endswith(" ") else words + "''"}); COMP_CWORD={at}
_milepost_completion milepost; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_bash_completes_commands_options_and_choices(environment: dict[str, str], tmp_path: Path) -> None:
    need("bash")
    assert completed("milepost pla", environment, tmp_path) == ["plan"]
    assert completed("milepost plan --expl", environment, tmp_path) == ["--explain"]
    assert completed("milepost plan --graph m", environment, tmp_path) == ["mermaid"]
    assert completed("milepost plan RO", environment, tmp_path) == []  # bash then offers files


def test_completing_reads_and_leaves_nothing_in_the_folder(environment: dict[str, str], tmp_path: Path) -> None:
    need("bash")
    folder = tmp_path / "folder"
    (folder / ".git").mkdir(parents=True)
    (folder / "milepost.toml").write_text("this is not TOML [")
    (folder / "ROADMAP.md").mkdir()
    before = sorted(folder.rglob("*"))

    assert completed("milepost run --par", environment, folder) == ["--parallel"]
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(("shell", "asked"), [("zsh", {}), ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"})])
def test_what_is_printed_for_the_other_shells_asks_and_is_answered(
    shell: str, asked: dict[str, str], environment: dict[str, str]
) -> None:
    script = subprocess.run(["milepost", "completion", shell], env=environment, capture_output=True, text=True)
    assert (script.returncode, f"_MILEPOST_COMPLETE=complete_{shell}" in script.stdout) == (0, True)

    words = asked | {"_MILEPOST_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "milepost pla"}
    answer = subprocess.run(["milepost"], env=environment | words, capture_output=True, text=True)
    assert (answer.returncode, "plan" in answer.stdout) == (0, True)


def test_another_shell_is_refused_by_name(environment: dict[str, str]) -> None:
    done = subprocess.run(["milepost", "completion", "csh"], env=environment, capture_output=True, text=True)
    assert (done.returncode, "csh" in done.stderr) == (2, True)
