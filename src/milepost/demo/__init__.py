"""The demonstration: a sample repository whose roadmap is run to its end with no key and no network."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from milepost.core.errors import Misuse
from milepost.engine.records.run_request import Caller, OnEvent, RunRequest
from milepost.engine.run.start import EndedHere, run
from milepost.sandbox.levels import strongest

SAMPLE = Path(__file__).parent / "sample"
AGENT = "replay:cassette.json"


def run_demo(folder: Path, on_event: OnEvent, on_made: Callable[[Path], None] = lambda _: None) -> EndedHere:
    """Make the sample repository in `folder`, which must be empty or absent, and run its roadmap.

    `on_made` is told the roadmap before it is run. All that the environment may set is said here, so that the story is
    the same for everybody.
    """
    make_sample(folder)
    on_made(folder / "ROADMAP.md")
    wish = RunRequest(roadmap=folder / "ROADMAP.md", agent=AGENT, parallel=2, trust=strongest().value, approve="never")
    return run(wish, Caller(on_event=on_event))


def make_sample(folder: Path, *more: Path) -> None:
    """The sample repository: a small library with tests, a roadmap, and one commit; with the files of other folders."""
    if folder.exists() and any(folder.iterdir()):
        raise Misuse(f"{str(folder)!r} is not empty", "name an empty folder, or none at all")
    for source in (SAMPLE, *more):
        shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "Demo")
    git(folder, "config", "user.email", "demo@localhost")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "A small library, and a roadmap for it")


def git(folder: Path, *words: str) -> None:
    """Run git as nobody has configured it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    neutral = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *words], cwd=folder, env=env | neutral, check=True)
