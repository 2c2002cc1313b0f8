"""A change of prose alone runs no suite."""

from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.judging.docs_only import needs_suite


def change(*paths: str, mode: str = "100644") -> Change:
    return Change(files=tuple(ChangedFile(path=path, before=b"a", after=b"b", mode=mode) for path in paths))


@pytest.mark.parametrize("paths", [("README.md",), ("docs/guide/a.rst", "docs/images/a.png", "LICENSE"), ("A.MD",)])
def test_prose_at_the_top_or_in_its_folder_needs_none(paths: tuple[str, ...]) -> None:
    assert not needs_suite(change(*paths))


@pytest.mark.parametrize(
    "paths",
    [
        ("README.md", "pkg/a.py"),
        ("pkg/templates/letter.md",),
        ("requirements.txt",),
        ("docs/conf.py",),
        ("logo.png",),
        ("tests/data/a.md",),
        (),
    ],
)
def test_everything_else_does(paths: tuple[str, ...]) -> None:
    assert needs_suite(change(*paths))


def test_prose_that_tests_read_and_a_link_need_it() -> None:
    assert needs_suite(change("README.md"), {"README.md"})
    assert needs_suite(change("README.md", mode="120000"))
