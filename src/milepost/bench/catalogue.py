"""The tasks of the benchmark as they lie in this package, and the repository that each starts from.

A task is a folder: `task.md` is the roadmap, `repo` what the agent finds, `hidden` the checks of the result, and
`solution` a change that satisfies them.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import TaskUnknown
from milepost.core.own_files import SETTINGS_FILE

TASKS = Path(__file__).parent / "tasks"
REFERENCE, NULL = "reference", "null"
ROADMAP = "ROADMAP.md"

_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".pytest_cache")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTask:
    id: str
    title: str
    folder: Path

    @property
    def hidden(self) -> Path:
        return self.folder / "hidden"

    def agent(self, name: str) -> str:
        """The agent that `name` means for this task: one that brings the solution, one that does nothing, any other."""
        if name == REFERENCE:
            return f"command:cp -R {shlex.quote(str(self.folder / 'solution'))}/. ."
        return "command:true" if name == NULL else name


def find_tasks(names: tuple[str, ...] = ()) -> tuple[BenchTask, ...]:
    """The tasks of these ids or numbers, all without any."""
    every = tuple(_task(path.parent) for path in sorted(TASKS.glob("*/task.md")))
    known = {name: task for task in every for name in (task.id, task.id.partition("-")[0])}
    for name in names:
        if name not in known:
            raise TaskUnknown(f"the benchmark has no task {name!r}", f"it has {', '.join(task.id for task in every)}")
    chosen = {known[name].id for name in names}
    return tuple(task for task in every if not names or task.id in chosen)


def make_repository(task: BenchTask, folder: Path, python: Path) -> Path:
    """A fresh repository with the task's files, its roadmap and one commit; gives the roadmap."""
    shutil.copytree(task.folder / "repo", folder, ignore=_LEFT_OUT)
    shutil.copy(task.folder / "task.md", folder / ROADMAP)
    (folder / SETTINGS_FILE).write_text(f"[verify]\npython = {json.dumps(str(python))}\n", encoding="utf-8")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "Benchmark")
    git(folder, "config", "user.email", "benchmark@localhost")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", f"The start of {task.id}")
    return folder / ROADMAP


def take_out(repository: Path, commit: str, folder: Path) -> None:
    """The files of a commit, in a folder without git."""
    folder.mkdir()
    packed = git(repository, "archive", "--format=tar", commit)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)


def git(folder: Path, *words: str) -> bytes:
    """What git says in a repository of ours, whatever the user's own git is set to."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    neutral = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *words], cwd=folder, env=env | neutral, check=True, stdout=subprocess.PIPE)
    return done.stdout


def _task(folder: Path) -> BenchTask:
    line = next(line for line in (folder / "task.md").read_text(encoding="utf-8").splitlines() if "[ ]" in line)
    return BenchTask(id=folder.name, title=line.partition("[ ]")[2].partition(" 1.1 ")[2], folder=folder)
