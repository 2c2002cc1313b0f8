from __future__ import annotations

from pathlib import Path

import pytest

from milepost.verify.selection.unittest_words import Wanted, wanted

FILES = (
    "test_top.py",
    "tests/__init__.py",
    "tests/test_a.py",
    "tests/more/test_deep.py",
    "checks/check_b.py",
    "helper.py",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), Wanted(files=("test_top.py", "tests/test_a.py"))),
        (("discover", "-v"), Wanted(files=("test_top.py", "tests/test_a.py"))),
        (("discover", "-s", "checks", "-p", "check_*.py"), Wanted(files=("checks/check_b.py",))),
        (("discover", "checks", "check*.py"), Wanted(files=("checks/check_b.py",))),
        (("tests.test_a",), Wanted(files=("tests/test_a.py",), only=("tests/test_a.py",))),
        (("-v", "tests/test_a.py"), Wanted(files=("tests/test_a.py",), only=("tests/test_a.py",))),
        (("tests.test_a.T.test_x",), Wanted(files=("tests/test_a.py",), only=("tests/test_a.py::T::test_x",))),
        (("tests.test_new",), Wanted(files=("tests/__init__.py",), only=("tests/__init__.py::test_new",))),
        (("test_new",), Wanted(lost=("test_new",))),
        (("discover", "-s", "nowhere"), Wanted(lost=("nowhere",))),
        (
            ("-k", "one", "-ktwo", "test_top"),
            Wanted(files=("test_top.py",), only=("test_top.py",), patterns=("one", "two")),
        ),
    ],
)
def test_words_mean_files_and_tests(folder: Path, words: tuple[str, ...], expected: Wanted) -> None:
    assert wanted(words, folder) == expected


@pytest.mark.parametrize(
    ("pattern", "wants"), [("night", True), ("T.test_n", True), ("*.test_night", True), ("day", False)]
)
def test_a_pattern_chooses_by_the_dotted_name(pattern: str, wants: bool) -> None:
    assert Wanted(patterns=(pattern,)).wants("tests/test_a.py::T::test_night") is wants
