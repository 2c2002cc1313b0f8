"""Texts are coloured in a process of their own, which a text may hang and nobody waits for."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from milepost.web.highlight.client import Painter
from milepost.web.highlight.colours import coloured

# In Markdown this takes Pygments longer than anybody waits, in one step that cannot be interrupted from within.
ENDLESS = "\n" * 200_000


@pytest.fixture
def painter() -> Iterator[Painter]:
    made = Painter()
    yield made
    made.close()


def test_a_text_that_takes_for_ever_is_shown_plain_and_the_next_one_in_colours(painter: Painter) -> None:
    paint = painter.sitting(0.5)
    assert paint("a.md", ENDLESS) == ((),) * 200_000
    assert paint("a.py", "x = 1\n") == ((("", "x = 1"),),), "the time of this answer is used up"
    assert painter.sitting(60)("a.py", "x = 1\n") == coloured("a.py", "x = 1\n") != ((("", "x = 1"),),)


def test_a_killed_painter_is_replaced(painter: Painter) -> None:
    text = '"""One\n\ud800 two"""\n\r\n'
    assert painter.sitting(60)("a.py", text) == coloured("a.py", text)
    (process,) = painter._at_work
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert len(painter.sitting(60)("a.py", text)) == 3, "this one is not coloured"
    assert painter.sitting(60)("a.py", text) == coloured("a.py", text)
