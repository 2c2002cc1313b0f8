"""The hidden checks of the benchmark: red before the work, green after it, and not to be fooled by the result."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.bench.catalogue import BenchTask, find_tasks
from milepost.bench.hidden import judge
from milepost.core.errors import TaskUnknown
from milepost.core.ports import Terminal
from milepost.sandbox.levels import open_terminal, strongest
from tests import lean
from tests.slow import sampled

TASKS = find_tasks()


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with open_terminal(strongest()) as opened:
        yield opened


def result_of(task: BenchTask, folder: Path, *parts: str) -> Path:
    result = folder / "result"
    for part in parts:
        shutil.copytree(task.folder / part, result, dirs_exist_ok=True)
    return result


@pytest.mark.parametrize("task", sampled(TASKS, 7), ids=lambda task: task.id)
def test_hidden_checks_are_red_before_the_work_and_green_after_it(
    task: BenchTask, tmp_path: Path, terminal: Terminal
) -> None:
    for name, parts, expected in (("before", ("repo",), False), ("after", ("repo", "solution"), True)):
        (tmp_path / name / "scratch").mkdir(parents=True)
        result = result_of(task, tmp_path / name, *parts)
        seen = judge(task.hidden, result, tmp_path / name / "scratch", lean.python(), terminal)
        assert seen.passed is expected, (name, seen.reason)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("textkit.py", "import os\n\nos._exit(0)\n"),
        ("textkit.py", "import pytest\n\npytest.skip(allow_module_level=True)\n"),
        ("conftest.py", "collect_ignore_glob = ['*']\n"),
        ("pytest.py", "import sys\n\nsys.exit(0)\n"),
        ("pytest.ini", "[pytest]\naddopts = --collect-only\n"),
    ],
)
def test_a_result_cannot_answer_for_its_checks(path: str, text: str, tmp_path: Path, terminal: Terminal) -> None:
    (task,) = find_tasks(("02",))
    result = result_of(task, tmp_path, "repo")
    (result / path).write_text(text)
    (tmp_path / "scratch").mkdir()
    seen = judge(task.hidden, result, tmp_path / "scratch", lean.python(), terminal)
    assert (seen.passed, bool(seen.reason)) == (False, True)


def test_there_are_twenty_tasks_and_no_others() -> None:
    assert [task.id[:2] for task in TASKS] == [f"{number:02}" for number in range(1, 21)]
    assert all(task.title for task in TASKS)
    with pytest.raises(TaskUnknown, match="99"):
        find_tasks(("99",))
