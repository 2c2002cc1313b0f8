"""What module_creation writes is good from the first moment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from milepost.agents.patterns.registry import pattern_named

KINDS = ("library", "cli", "utility")
FUNCTIONS = ("", "parse, step10, step2")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder that holds every kind, with and without functions."""
    folder = tmp_path_factory.mktemp("project")
    pattern = pattern_named("module_creation")
    for kind in KINDS:
        for functions in FUNCTIONS:
            name = f"my_{kind}_{'full' if functions else 'bare'}"
            inputs = {"name": name, "kind": kind, "description": r'Reads "1h30m" \d {x} """so"""'}
            pattern.execute(inputs | ({"functions": functions} if functions else {}), folder)
    return folder


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=project, env=env, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize(
    "words",
    [
        ("unittest",),
        ("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
        ("ruff", "check", "--isolated", "--no-cache", "."),
        ("mypy", "--strict", "--cache-dir", os.devnull, "."),
    ],
    ids=" ".join,
)
def test_generated_modules_pass(words: tuple[str, ...], project: Path) -> None:
    done = run(project, *words)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_generated_tests_run_and_fail_when_the_module_breaks(tmp_path: Path) -> None:
    pattern_named("module_creation").execute({"name": "durations", "functions": "parse"}, tmp_path)
    assert "Ran 3 tests" in run(tmp_path, "unittest").stderr

    module = tmp_path / "durations" / "__init__.py"
    module.write_text(module.read_text().replace("def parse", "def parsed"))

    assert "FAILED" in run(tmp_path, "unittest").stderr


def test_a_generated_command_line_says_what_is_not_written_yet(project: Path) -> None:
    done = run(project, "my_cli_full", "parse", "1h")

    assert (done.returncode, done.stdout, done.stderr) == (1, "", "parse is not written yet\n")
    assert run(project, "my_cli_full", "fly").returncode == 2
    assert "usage: my_cli_bare" in run(project, "my_cli_bare").stdout
