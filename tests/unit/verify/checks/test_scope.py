from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import LARGEST_READ, Change, ChangedFile
from milepost.core.task import Task
from milepost.core.verdict import CheckResult
from milepost.verify.checks.scope import ScopeCheck

HERE = Workspace(folder=Path("/nowhere"), scratch=Path("/nowhere"), base="0" * 40)


def task(*files: str, only: bool = True) -> Task:
    part = Task(id="1.1", title="part", status="open", line=2, files=("docs/",))
    return Task(id="1", title="x", status="open", line=1, files=files, only_its_files=only, subtasks=(part,))


def checked(subject: Task, *paths: str, most_files: int = 0, largest_bytes: int = 0) -> CheckResult:
    files = tuple(ChangedFile(path=path, before=None, after=b"12345") for path in paths)
    check = ScopeCheck(change=Change(files=files), task=subject, most_files=most_files, largest_bytes=largest_bytes)
    return check.run(HERE)


@pytest.mark.parametrize(
    "path", ["src/app.py", "lib/deep/a.py", "docs/a.md", "tests/test_a.py", "tests/deep/test_b.py"]
)
def test_files_folders_and_globs_are_within_the_task(path: str) -> None:
    assert checked(task("src/app.py", "./lib/", "tests/**/test_*.py"), path).outcome == "passed"


def test_a_file_outside_fails_only_when_the_task_says_so() -> None:
    result = checked(task("src/app.py"), "src/app.py", "src/app.pyc", "other.py")
    assert (result.outcome, result.summary) == ("failed", "changed outside of the task's files: src/app.pyc, other.py")
    assert checked(task("src/app.py", only=False), "other.py").outcome == "absent"


def test_the_settings_that_work_is_judged_by_change_only_when_the_task_names_them() -> None:
    refused = checked(task("app.py", only=False), "app.py", "sub/milepost.toml")
    assert (refused.outcome, "how Milepost checks work here" in refused.summary) == ("failed", True)
    assert checked(task("milepost.toml", only=False), "milepost.toml").outcome == "absent"
    own = Change(files=(ChangedFile(path="milepost.toml", before=None, after=b"x"),))
    assert ScopeCheck(change=own, task=task(only=False), by_hand=True).run(HERE).outcome == "absent"


def test_folders_of_packages_are_brought_only_where_the_task_names_them() -> None:
    for path in (".venv/bin/python", "web/node_modules/.bin/tsc", "Venv", "tools/pyvenv.cfg", "x/site-packages/a.pth"):
        refused = checked(task("app.py", only=False), "app.py", path)
        assert (refused.outcome, path in refused.summary) == ("failed", True)
        assert checked(task(path, only=False), path).outcome == "absent"
    assert checked(task(only=False), "src/venv.py", "docs/node_modules.md").outcome == "absent"


def test_size_is_limited_when_it_is_set() -> None:
    free = task("a", only=False)
    assert checked(free, "a", "b", most_files=1).summary == "2 files changed, 1 allowed"
    assert checked(free, "a", "b", most_files=2, largest_bytes=5).outcome == "passed"
    assert checked(free, "a", largest_bytes=4).summary == "larger than 4 bytes: a"


@pytest.mark.parametrize(
    ("path", "size", "outcome"),
    [
        ("app.py", LARGEST_READ + 1, "failed"),
        ("package.json", LARGEST_READ + 1, "failed"),
        ("table.csv", LARGEST_READ + 1, "absent"),
        ("app.py", 0, "absent"),
    ],
)
def test_code_that_is_too_large_to_be_read_is_refused(tmp_path: Path, path: str, size: int, outcome: str) -> None:
    with (tmp_path / path).open("wb") as file:
        file.truncate(size)
    unread = Change(files=(ChangedFile(path=path, before=None, after=b""),))
    here = Workspace(folder=tmp_path, scratch=tmp_path, base="0" * 40)

    assert ScopeCheck(change=unread, task=task(only=False)).run(here).outcome == outcome


@pytest.mark.parametrize(
    ("path", "target", "outcome"),
    [
        ("a", "/etc/passwd", "failed"),
        ("a", "..", "failed"),
        ("a/b", "../../x", "failed"),
        ("a/b", "../.git/config", "failed"),
        ("a/b", "../c", "absent"),
        ("a", "b/..//c", "absent"),
    ],
)
def test_a_link_may_not_lead_out_of_the_project(path: str, target: str, outcome: str) -> None:
    file = ChangedFile(path=path, before=None, after=target.encode(), mode="120000")
    result = ScopeCheck(change=Change(files=(file,)), task=task(only=False)).run(HERE)
    assert result.outcome == outcome
