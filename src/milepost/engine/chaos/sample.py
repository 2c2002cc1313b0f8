"""The sample of chaos: a repository with a roadmap of so many tasks, and a cassette that does them.

Every kind of way is in it: tasks that pass at once, tasks whose first attempt is wrong, tasks that wait for others,
tasks that change one shared file. Each has a line of its own in that file, so that all ways lead to the same tree.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

PHASE = 5  # tasks in each
ROADMAP, CASSETTE, REGISTER = "ROADMAP.md", "cassette.json", "register.txt"
SPARE_ATTEMPTS = 3  # for work that must be done again on top of what landed meanwhile

Answer = dict[str, Any]


def make_sample(folder: Path, tasks: int) -> Path:
    """Make the sample in a new folder, as one commit; gives its roadmap."""
    folder.mkdir(parents=True)
    for name, text in sample_files(tasks).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "A sample"),
    ):
        _git(folder, *words)
    return folder / ROADMAP


def sample_files(tasks: int) -> dict[str, str]:
    """The files of the sample: the same for the same number of tasks."""
    numbers = range(1, tasks + 1)
    register = "".join(f"{number:04} open\n" for number in numbers)
    recorded = {task_id(number): _attempts(number) for number in numbers}
    return {
        ROADMAP: f"# A sample of {tasks} tasks\n" + "".join(_item(number) for number in numbers),
        CASSETTE: json.dumps({"version": 1, "answers": recorded}, indent=1) + "\n",
        REGISTER: register,
        "pages/0000.txt": "page 0000\n",
    }


def task_id(number: int) -> str:
    return f"{(number - 1) // PHASE + 1}.{(number - 1) % PHASE + 1}"


def fails_first(number: int) -> bool:
    return number % PHASE == 2


def is_shared(number: int) -> bool:
    return number % 3 == 0


def _item(number: int) -> str:
    heading = f"\n## Phase {number // PHASE + 1}\n\n" if number % PHASE == 1 else ""
    page, checks = f"pages/{number:04}.txt", [f"grep -q 'page {number:04}' pages/{number:04}.txt"]
    if is_shared(number):
        checks.append(f"grep -q '{number:04} done' {REGISTER}")
    lines = [f"- [ ] {task_id(number)} Write page {number:04}", f"  - Files: {page}"]
    if number > PHASE:
        lines.append(f"  - Depends on: {task_id(number - PHASE)}")
    lines += [f"  - Verify: {check}" for check in checks]
    return heading + "\n".join(lines) + "\n"


def _attempts(number: int) -> list[list[Answer]]:
    right = _answers(number, f"page {number:04}\n")
    wrong = [_answers(number, "something else\n")] if fails_first(number) else []
    return [*wrong, *[right] * SPARE_ATTEMPTS]


def _answers(number: int, text: str) -> list[Answer]:
    """Four answers of a model, three of which use a tool."""
    page = f"pages/{number:04}.txt"
    entering = ["sed", "-i", f"s/^{number:04} open/{number:04} done/", REGISTER]
    third = _call("execute", argv=entering) if is_shared(number) else _call("read_file", path=page)
    return [
        _call("read_file", path=REGISTER) | {"text": "I look at the register first."},
        _call("write_file", path=page, content=text),
        third,
        {"text": f"Page {number:04} is written.", "cost_usd": 0.01},
    ]


def _call(name: str, **arguments: Any) -> Answer:
    return {"calls": [{"name": name, "arguments": arguments}], "cost_usd": 0.01}


def _git(folder: Path, *words: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in _WHO.items()}
    neutral = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *words], cwd=folder, env=env | neutral | who, check=True)


_WHO = {"NAME": "Chaos", "EMAIL": "chaos@localhost", "DATE": "@1700000000 +0000"}
