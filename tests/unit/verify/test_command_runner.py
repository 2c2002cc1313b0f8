"""What of a command's output is told in a line."""

from __future__ import annotations

import pytest

from milepost.verify.command_runner import last_line

TAP = """TAP version 13
not ok 1 - later # TODO
    ok 1 - a
    not ok 2 - broken close
not ok 2 - fixtures
# fail 2
# duration_ms 6868.48
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("one\n\nE   two\n\n", "two"),
        (TAP, "not ok 2 - broken close"),
        ("not ok 1 - later # TODO\n# fail 0\n", "# fail 0"),
    ],
)
def test_the_line_that_says_most_is_the_last_or_the_first_failure_of_tap(text: str, line: str) -> None:
    assert last_line(text) == line
