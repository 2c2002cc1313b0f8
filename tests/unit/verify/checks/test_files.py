from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.verify.checks.files import FilesCheck


def checked(folder: Path, changed: tuple[str, ...], expected: tuple[str, ...] = ()) -> tuple[str, str]:
    workspace = Workspace(folder=folder, scratch=folder, base="0" * 40)
    result = FilesCheck(changed=changed, expected=expected).run(workspace)
    assert not result.decisive
    return result.outcome, result.summary


def test_an_attempt_that_changed_nothing_fails(tmp_path: Path) -> None:
    assert checked(tmp_path, ()) == ("failed", "the attempt changed nothing")


def test_a_change_is_named_and_a_long_list_is_cut(tmp_path: Path) -> None:
    assert checked(tmp_path, ("a.py",)) == ("passed", "1 file changed: a.py")
    assert checked(tmp_path, tuple("abcdefg")) == ("passed", "7 files changed: a, b, c, d, e, …")


@pytest.mark.parametrize("entry", ["src/app.py", "./src/app.py", "src/", "src", "src/*.py", "**/app.py"])
def test_an_expected_entry_may_be_a_file_a_folder_or_a_glob(tmp_path: Path, entry: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").touch()

    assert checked(tmp_path, ("src/app.py",), (entry,))[0] == "passed"


@pytest.mark.parametrize("entry", ["src/other.py", "docs/", "src/*.js", "../src", "", "/", "n" * 300])
def test_an_expected_entry_that_is_not_in_the_checkout_fails(tmp_path: Path, entry: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").touch()

    assert checked(tmp_path, ("src/app.py",), ("src/app.py", entry)) == ("failed", f"not there afterwards: {entry}")
