"""What a change says to keep a tool quiet, taken away again."""

from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.counterproof.line_elsewhere import without_comments


def without(before: str | None, after: str) -> list[tuple[str, int]]:
    old = before.encode() if before is not None else None
    change = Change(files=(ChangedFile(path="a", before=old, after=after.encode()),))
    return [(text.decode(), number) for _, (text, number) in without_comments(change)]


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("x = f()  # type: ignore[arg-type]", "x = f()"),
        ("import os  # noqa: F401", "import os"),
        ("# ruff: noqa", ""),
        ("# pylint: disable=all", ""),
        ("y = 1  # pragma: no cover", "y = 1"),
        ("let a; // eslint-disable-line no-unused-vars", "let a;"),
        ("/* eslint-disable */", ""),
        ("  // @ts-expect-error it is a number", ""),
        ("err := f() //nolint:errcheck", "err := f()"),
        ("#[allow(dead_code)]", ""),
        ("# shellcheck disable=SC2086", ""),
    ],
)
def test_a_comment_that_keeps_a_tool_quiet_is_taken_away_from_a_new_line(line: str, left: str) -> None:
    assert without("one\n", f"one\n{line}\n") == [(f"one\n{left}\n", 2)]


def test_what_the_base_said_stays() -> None:
    assert without("import os  # noqa\n", "if 1:\n    import os  # noqa\n") == []


@pytest.mark.parametrize("line", ["# types are ignored here", "// see eslint", "#[derive(Debug)]", "# a note on mypy"])
def test_an_ordinary_comment_stays(line: str) -> None:
    assert without(None, f"{line}\n") == []
