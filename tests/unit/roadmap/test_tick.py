"""Ticking changes one byte a box; and what holds for every roadmap that can be written."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from milepost.core.errors import RoadmapUnreadable, TaskUnknown
from milepost.core.task import Roadmap, Task
from milepost.roadmap import read, tick, untick

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def everyone(roadmap: Roadmap) -> list[Task]:
    return [task for top in roadmap.tasks for task in top.walk()]


def changed(before: bytes, after: bytes) -> list[tuple[int, bytes]]:
    assert len(before) == len(after)
    return [(at, after[at : at + 1]) for at in range(len(before)) if before[at] != after[at]]


@pytest.mark.parametrize(
    "before",
    [
        "- [ ] 1.1 Write it\n",
        "\ufeff- [ ] 1.1 Write it",
        "é [ ]\r\n\r\n*\t[ ]\t1.1 Übung\r\n",
        "- [ ] other\r- [ ] 1.1 Write [ ] it\r",
        "> 1. - [ ] **1.1** 漢字  \n",
        "-\n  [ ] 1.1 Write it\n",
        "---\na: [ ]\n---\n- [ ] 1.1 Write it\n",
        "- [ ]\n  1.1 Write it\n",
        "- \u2028\n  [ ] 1.1 Write it\n",
    ],
)
def test_ticking_changes_the_byte_in_the_box_and_nothing_else(before: str) -> None:
    content = before.encode()
    after = tick(content, "1.1")
    ((at, byte),) = changed(content, after)
    assert byte == b"x"
    assert content[at - 1 : at + 2] == b"[ ]"
    assert next(task for task in everyone(read(after)) if task.id == "1.1").status == "done"
    assert tick(after, "1.1") == after
    assert untick(after, "1.1") == content


def test_of_two_tasks_with_one_title_the_right_one_is_ticked() -> None:
    content = b"- [ ] Same\n- [ ] Same\n"
    first, second = (task.id for task in read(content).tasks)
    assert tick(content, second) == b"- [ ] Same\n- [x] Same\n"
    assert tick(content, first) == b"- [x] Same\n- [ ] Same\n"


def test_subtasks_are_ticked_with_their_task_and_a_subtask_alone() -> None:
    content = b"- [ ] 1 A\n  - [X] 1.1 b\n  - [ ] 1.2 c\n    - [ ] 1.3 d\n- [ ] 2. e\n"
    top = read(content).tasks[0].id
    assert tick(content, top) == b"- [x] 1 A\n  - [X] 1.1 b\n  - [x] 1.2 c\n    - [x] 1.3 d\n- [ ] 2. e\n"
    assert tick(content, "1.3") == content.replace(b"[ ] 1.3", b"[x] 1.3")
    assert untick(content, "1.1") == content.replace(b"[X]", b"[ ]")


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(TaskUnknown, match=r"'9\.9'"):
        tick(b"- [ ] 1.1 a\n", "9.9")


WORDS = (
    "Write Fix the parser tests 1.1 1.2 T001 T1 3 **bold** `code` 漢字 👩‍👧 \x1b[31m Files: Verify: Depends_on: Agent: "
    "Pattern: a=b (depends:_1.1) [_] [x] <!-- --> | ``` --- # > \\ \u202e .. a.lock"
)
words = st.sampled_from([word.replace("_", " ") for word in WORDS.split(" ")])
texts = st.lists(words, max_size=5).map(" ".join)
indents = st.sampled_from(["", "", " ", "  ", "    ", "\t", "      ", "> ", "   - "])
starts = st.sampled_from(
    [
        "- [ ] ",
        "- [x] ",
        "* [X] ",
        "+ [ ]\t",
        "1. [ ] ",
        "2) [ ] ",
        "- ",
        "-",
        "## ",
        "",
        "",
        "```",
        "| ",
        "[ ] ",
        "---",
        "===",
    ]
)
lines = st.builds("{}{}{}".format, indents, starts, texts)
line_ends = st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n"])


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    text = "".join(line + draw(line_ends) for line in draw(st.lists(lines, max_size=25)))
    return (draw(st.sampled_from(["", "\ufeff", "---\nid: 1\n---\n"])) + text).encode()


@given(documents())
@settings(max_examples=250)
def test_every_document_has_valid_unique_ids_and_each_box_ticks_alone(content: bytes) -> None:
    roadmap = read(content)
    tasks = everyone(roadmap)
    for task in tasks:
        assert ID.fullmatch(task.id)
        assert ".." not in task.id
        assert not task.id.endswith((".", ".lock"))
        assert task.title.isprintable() or "\u200d" in task.title
    assert len({task.id.casefold() for task in tasks}) == len(tasks)
    assert {name for task in tasks for name in task.depends_on} <= {task.id for task in roadmap.tasks}

    for task in [task for task in tasks if task.status == "open"][:3]:
        ticked = tick(content, task.id)
        boxes = sum(member.status == "open" for member in task.walk())
        assert [byte for _, byte in changed(content, ticked)] == [b"x"] * boxes
        after = everyone(read(ticked))
        assert [member.id for member in after] == [member.id for member in tasks]
        assert sum(member.status == "open" for member in tasks) - boxes == sum(
            member.status == "open" for member in after
        )
        if not task.subtasks:
            assert untick(ticked, task.id) == content


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@settings(max_examples=200)
def test_any_bytes_are_read_or_refused_as_unreadable(content: bytes) -> None:
    try:
        read(content)
    except RoadmapUnreadable as refused:
        assert refused.advice


title_words = st.sampled_from(["add", "fix", "the", "parser", "store", "解析", "tests", "7"])
titles = st.lists(title_words, min_size=1, max_size=4).map(" ".join)


@given(st.lists(titles, min_size=1, max_size=12), titles, st.integers(min_value=0, max_value=12))
@settings(max_examples=150)
def test_a_task_that_is_put_in_between_renames_nobody(others: list[str], new: str, place: int) -> None:
    assume(new not in others)
    written = [f"- [ ] {title}\n" for title in others]
    before = [task.id for task in read("".join(written).encode()).tasks]
    place = min(place, len(others))
    written.insert(place, f"- [ ] {new}\n\n  words about it\n")
    after = [task.id for task in read("".join(written).encode()).tasks]
    assert after[:place] + after[place + 1 :] == before
