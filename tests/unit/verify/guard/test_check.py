from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.core.verdict import CheckResult
from milepost.verify.guard.check import GuardCheck
from milepost.verify.judging.paths import is_test_path, is_test_setting

TASK = Task(id="1", title="Add help", status="open", line=1)
BEFORE = b"def test_help():\n    out = run()\n    assert out.code == 0\n    assert 'usage' in out.text\n"
WEAKER = ChangedFile(path="tests/test_cli.py", before=BEFORE, after=b"def test_help():\n    run()\n")
FORGED = ChangedFile(path="app.py", before=b"", after=b"import sys\nTESTED = 'pytest' in sys.modules\n")


def checked(folder: Path, *files: ChangedFile, task: Task = TASK) -> CheckResult:
    workspace = Workspace(folder=folder, scratch=folder, base="0" * 40)
    return GuardCheck(change=Change(files=files), task=task).run(workspace)


def test_the_summary_of_a_weakened_test_says_which_and_by_how_much(tmp_path: Path) -> None:
    result = checked(tmp_path, WEAKER)
    assert (result.name, result.outcome, result.decisive) == ("guard", "failed", False)
    assert result.summary == "tests/test_cli.py was weakened: 2 assertions removed from test_help"
    assert result.log == "tests/test_cli.py:1: 2 assertions removed from test_help"


def test_forging_is_named_before_weakening(tmp_path: Path) -> None:
    result = checked(tmp_path, WEAKER, FORGED)
    assert result.summary == (
        "app.py would make tests lie: finds out whether it is being tested (sys.modules); and 1 other finding"
    )
    assert len(result.log.splitlines()) == 2


def test_a_task_about_tests_may_change_them_but_not_forge(tmp_path: Path) -> None:
    allowed = replace(TASK, subtasks=(replace(TASK, id="1.1", tests_may_change=True),))
    result = checked(tmp_path, WEAKER, task=allowed)
    assert result.outcome == "passed"
    assert "as the task allows" in result.summary and "2 assertions removed from test_help" in result.summary
    assert checked(tmp_path, WEAKER, FORGED, task=allowed).outcome == "failed"


def test_the_program_that_a_verify_line_runs_is_guarded_like_a_test(tmp_path: Path) -> None:
    task = replace(TASK, verify=("python scripts/check_total.py", "python app.py"))
    before = b"from app import total\nassert total([1]) == 1\n"
    emptied = ChangedFile(path="scripts/check_total.py", before=before, after=b"print('ok')\n")
    product = ChangedFile(path="app.py", before=b"def f(x):\n    assert x\n", after=b"def f(x):\n    return x\n")

    assert checked(tmp_path, emptied, task=task).summary == (
        "scripts/check_total.py was weakened: 1 assertion removed from the file itself"
    )
    assert checked(tmp_path, product, task=task).outcome == "absent"
    assert checked(tmp_path, emptied, task=replace(task, files=("scripts/check_total.py",))).outcome == "absent"


def test_an_untouched_suite_is_counted_in_the_checkout(tmp_path: Path) -> None:
    assert checked(tmp_path, replace(FORGED, after=b"X = 1\n")).outcome == "absent"
    for name in ("tests/test_a.py", "src/b.test.ts", "node_modules/p/c.test.js", ".venv/test_d.py", "tests/data.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert checked(tmp_path).summary == "2 test files as they were"
    added = ChangedFile(path="tests/test_a.py", before=None, after=BEFORE)
    assert checked(tmp_path, added).summary == "2 test files, none weakened (1 added or extended)"


@pytest.mark.parametrize(
    "path",
    [
        "test_a.py",
        "pkg/a_test.py",
        "tests/helpers.py",
        "test/data/x.json",
        "conftest.py",
        "src/a.test.ts",
        "a.spec.jsx",
        "src/__tests__/a.js",
        "src/__snapshots__/a.snap",
        "pkg/a_test.go",
        "tests/it.rs",
        "src/test/java/A.java",
        "src/ATest.java",
        "test_a.c",
        "a_test.cpp",
        "spec/a_spec.rb",
        "app/tests.py",
        "testdata/golden.txt",
        "test.js",
    ],
)
def test_a_path_of_tests_is_known(path: str) -> None:
    assert is_test_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/app.py",
        "testing.py",
        "src/contest.py",
        "latest.js",
        "docs/tests.md",
        "tests/README.md",
        "spec/api.yaml",
        "attest.go",
        "src/protest/a.py",
        "pytest.ini",
        "",
    ],
)
def test_other_paths_are_none(path: str) -> None:
    assert not is_test_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "a/pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        "tox.ini",
        "setup.cfg",
        "pyproject.toml",
        "package.json",
        "vitest.config.ts",
        "jest.config.js",
        "vitest.workspace.ts",
        "karma.conf.js",
        ".mocharc.yml",
        ".mocharc",
        "tsconfig.test.json",
        "tsconfig.json",
        "Cargo.toml",
        "CMakeLists.txt",
        "sitecustomize.py",
        "x.pth",
        "Makefile",
    ],
)
def test_a_setting_of_tests_is_known(path: str) -> None:
    assert is_test_setting(path)
    assert not is_test_setting(f"{path}.md")
