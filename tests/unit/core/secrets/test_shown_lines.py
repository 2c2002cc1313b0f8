"""Secrets in lines with colours: found as a terminal shows them, and colours stay where they can."""

from __future__ import annotations

import pytest

from milepost.core.secrets.coloured_lines import PART, ShownLines
from milepost.core.secrets.redact import MASK, Redactor

SECRET = "Zq9xW7vT5rP3nM1k"
TOKEN = "ghp_" + "A1b2" * 9


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([f"\x1b[31m{SECRET[:8]}\x1b[0m{SECRET[8:]} end"], [f"{MASK} end"]),
        ([f"{SECRET[:8]}\r{SECRET[8:]}"], [MASK]),
        ([f"{SECRET[:8]}\x1b(B\x1b[m{SECRET[8:]}"], [MASK]),
        ([f"{SECRET[:8]}\x1b]8;;https://x\x1b\\{SECRET[8:]}"], [MASK]),
        ([f"a {SECRET[:8]}", f"\x1b[32m{SECRET[8:]}\x1b[0m b"], [f"a {MASK}", f"{MASK} b"]),
        ([f"\x1b[31mis {SECRET} \x1b[0mend"], [f"\x1b[31mis {MASK} \x1b[0mend"]),
        ([f"\x1b[31m{TOKEN}\x1b[0m"], [MASK]),
        ([f"50 %\r{TOKEN}"], [f"50 %\r{MASK}"]),
        ([f"done\r{TOKEN} {SECRET[:8]}\x1b[1m{SECRET[8:]}"], [MASK]),
        (
            ["\x1b[32mgreen\x1b[0m\tand \ud800", "50 %\r100 %", ""],
            ["\x1b[32mgreen\x1b[0m\tand \\ud800", "50 %\r100 %", ""],
        ),
        (["\x1b]0;no end", "\x1b[31", "\x9d" * 3], ["\x1b]0;no end", "\x1b[31", "\x9d" * 3]),
        ([], []),
    ],
)
@pytest.mark.parametrize("before", [0, PART - 1])
def test_a_secret_is_found_as_a_terminal_shows_it(lines: list[str], shown: list[str], before: int) -> None:
    some = ["\x1b[2msome\x1b[0m"] * before
    assert ShownLines(Redactor({SECRET})).block([*some, *lines]) == [*some, *shown]


def test_a_secret_of_short_lines_is_hidden_from_where_it_can_be_told() -> None:
    lines = ShownLines(Redactor({"abcd\r\nefgh\r\nijkl", "line-one-of-it\nab\nline-three"}))
    assert lines.block(["abcd\r", "efgh\r", "ijkl\r", "next"]) == ["abcd\r", MASK, MASK, "next"]
    assert lines.block(["line-one-of-it", "ab", "line-three"]) == [MASK] * 3
