"""Text that wants to act or to hide is only ever shown."""

from __future__ import annotations

import random

import pytest

from tests.web.modules import Modules

UNSEEN = {*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F)} | {
    *range(0x2060, 0x2070),
    0xFEFF,
}


def pieces(modules: Modules, *lines: str) -> list[list[list[str]]]:
    found: list[list[list[str]]] = modules.call("safe.js", "({pieces}, lines) => lines.map(pieces)", list(lines))
    return found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("plain", [["", "plain"]]),
        ("\x1b[1;31mred\x1b[0m on", [["colour-1 bold", "red"], ["", " on"]]),
        ("\x1b[38;5;2mgreen\x1b[39m\x1b[38;2;1;2;3;4mother", [["colour-2", "green"], ["underlined", "other"]]),
        ("\x1b[2J\x1b[10;5Hmoved", [["", "moved"]]),
        ("\x1b]0;title\x07a\x1b]52;c;Zm9v\x1b\\b\x1b]8;;http://x\x1b\\link", [["", "a"], ["", "b"], ["", "link"]]),
        ("\x1bPq#0\x1b\\sixel", [["", "sixel"]]),
        ("10%\r55%\r100%", [["", "100%"]]),
        ("ended\r", [["", "ended"]]),
        ("a\u202eb", [["", "a"], ["unseen", "U+202E"], ["", "b"]]),
        ("nul\x00", [["", "nul"], ["unseen", "␀"]]),
        ("tag\U000e0041", [["", "tag"], ["unseen", "U+E0041"]]),
        ("half\x1b[", [["", "half"]]),
        ("<img src=x onerror=alert(1)>", [["", "<img src=x onerror=alert(1)>"]]),
    ],
)
def test_a_line_keeps_its_colours_and_loses_what_would_act(
    modules: Modules, line: str, expected: list[list[str]]
) -> None:
    assert pieces(modules, line) == [expected]


def test_a_long_line_is_cut_and_says_by_how_much(modules: Modules) -> None:
    [[shown, cut]] = pieces(modules, "x" * 5000)

    assert len(shown[1]) == 2000
    assert cut == ["cut", "… 3,000 more characters; copy gives all"]


def test_no_random_line_leaves_a_character_that_acts_or_hides(modules: Modules) -> None:
    chance = random.Random(10)
    alphabet = [chr(code) for code in (*UNSEEN, *b"[]0123;:mJHPX^_\\abc", 0x9B, 0x9D, 0x1F600)] + ["\x1b"] * 20
    lines = ["".join(chance.choices(alphabet, k=chance.randrange(40))) for _ in range(4000)]

    told = [text for found in pieces(modules, *lines) for _, text in found]

    assert not {ord(sign) for text in told for sign in text} & (UNSEEN - {9})


def test_search_and_copy_have_the_text_without_its_colours(modules: Modules) -> None:
    plain = modules.call("safe.js", "({plain}, line) => plain(line)", "1%\r\x1b[32mok\x1b[0m \x1b]0;t\x07done")

    assert plain == "ok done"
