"""What goes together when mileposts are taken back, and which boxes are open then."""

from __future__ import annotations

import pytest

from milepost.cli.show.diff import shown
from milepost.engine.undo.dependents import Going, going_with
from milepost.roadmap import read
from milepost.roadmap.editing.reopen import reopened
from milepost.workspace.mileposts import Milepost

CHAIN = b"""- [x] 1.1 One
- [x] 1.2 Two
  - Depends on: 1.1
- [x] 1.3 Three
  - Depends on: 1.2
- [x] 1.4 Four
  - [x] 1.4.1 Half
    - Depends on: 1.3
  - [x] 1.4.2 Half
- [x] 1.5 Five
"""


def landed(order: str) -> tuple[Milepost, ...]:
    """Mileposts, newest first, of tasks that are given oldest first."""
    return tuple(
        Milepost(commit=f"c{task}", task=task, run="r", attempt=1, agent="a", title="T", roadmap="ROADMAP.md")
        for task in reversed(order.split())
    )


@pytest.mark.parametrize(
    ("order", "asked", "gone"),
    [
        ("1.1 1.2 1.3 1.4 1.5", "1.5", "1.5"),
        ("1.1 1.2 1.3 1.4 1.5", "1.3", "1.4 1.3"),
        ("1.1 1.2 1.3 1.4 1.5", "1.1", "1.4 1.3 1.2 1.1"),
        ("1.1 1.3 1.4", "1.1", "1.4 1.3 1.1"),  # 1.2 was ticked by hand
        ("1.2 1.1 1.3", "1.1", "1.1"),  # what was there before did not need it, nor does what needed only that
        ("1.4.1 1.4.2 1.4", "1.4.2", "1.4 1.4.2"),
        ("1.4.1 1.4.2 1.4", "1.4", "1.4 1.4.2 1.4.1"),
        ("1.5.a 1.5.b 1.5", "1.5.a", "1.5 1.5.a"),
        ("1.5.a 1.5.b 1.5", "1.5", "1.5 1.5.b 1.5.a"),
        ("1.3 1.4.1 1.4.2 1.4", "1.3", "1.4 1.4.2 1.4.1 1.3"),
    ],
)
def test_what_goes_with_a_milepost(order: str, asked: str, gone: str) -> None:
    posts = landed(order)
    wanted = [Going(milepost=post) for post in posts if post.task == asked]
    found = going_with(posts, read(CHAIN).tasks, wanted)
    assert " ".join(one.milepost.task for one in found) == gone
    assert [one.milepost.task for one in found if not one.because] == [asked]


def test_parts_of_a_task_that_depends_are_not_taken_back_unasked() -> None:
    posts = landed("1.3 1.4.a")
    found = going_with(posts, read(CHAIN).tasks, [Going(milepost=posts[-1])])
    assert [(one.milepost.task, one.dependent) for one in found] == [("1.4.a", True), ("1.3", False)]


def test_boxes_open_with_the_task_but_not_those_of_mileposts_that_stay() -> None:
    content, opened = reopened(CHAIN, ("1.4",), kept=("1.4.2",))
    assert opened == ("1.4", "1.4.1") and b"- [x] 1.4.2" in content and len(content) == len(CHAIN)
    content, opened = reopened(CHAIN, ("1.4.1",), above=("1.4",))
    assert opened == ("1.4.1", "1.4") and b"- [x] 1.4.2" in content
    assert reopened(CHAIN, ("gone",)) == (CHAIN, ())


def test_a_patch_on_a_terminal_has_nothing_that_the_terminal_would_obey() -> None:
    text = shown(b"+a\x1b]0;title\x07\r\n-\xe2\x80\xaeb\tc\xff\n", colours=False)
    assert text == "+a\\x1b]0;title\\x07\\r\n-\\u202eb\tc\\xff\n"
    assert shown(b"+a\x1b[31m\n", colours=True) == "\x1b[32m+a\\x1b[31m\x1b[m\n"
