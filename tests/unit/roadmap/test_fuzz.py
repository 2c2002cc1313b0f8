"""What is thrown at the reader: any bytes, depths and lengths without end, names that mean harm."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.core.errors import RoadmapUnreadable
from milepost.core.task import Roadmap, Task
from milepost.roadmap import read, tick, untick
from milepost.roadmap.reading.options import Manner

BOXES = Manner(dialect="boxes", parents=False)
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LARGE = 200_000
# Joiners hold emoji together; nothing else that cannot be seen is let through.
JOINERS = "\u200c\u200d"


def everyone(roadmap: Roadmap) -> list[Task]:
    return [task for top in roadmap.tasks for task in top.walk()]


def check(roadmap: Roadmap) -> None:
    tasks = everyone(roadmap)
    assert len({task.id.casefold() for task in tasks}) == len(tasks)
    for task in tasks:
        assert ID.fullmatch(task.id)
        assert ".." not in task.id
        assert not task.id.lower().endswith((".", ".lock"))
        for shown in (task.title, task.phase, task.section):
            assert not [
                sign for sign in shown if unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp") and sign not in JOINERS
            ]
            assert "\n" not in shown
            assert not any(a in JOINERS and b in JOINERS for a, b in pairwise(shown))


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
@settings(max_examples=200)
def test_any_bytes_are_read_or_refused_with_advice(content: bytes) -> None:
    try:
        check(read(content, BOXES))
    except RoadmapUnreadable as refused:
        assert refused.advice


signs = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), max_size=60)


@given(
    st.lists(
        st.tuples(st.sampled_from(["- [ ] ", "  - [x] ", "## ", "### ", "- ", "Files: ", "  Verify: "]), signs),
        max_size=8,
    )
)
@settings(max_examples=200)
def test_any_signs_in_titles_and_headings_come_out_safe_and_tick_alone(lines: list[tuple[str, str]]) -> None:
    content = "".join(f"{lead}{text}\n" for lead, text in lines).encode()
    roadmap = read(content, BOXES)
    check(roadmap)
    for task in [task for task in everyone(roadmap) if task.status == "open" and not task.subtasks][:2]:
        ticked = tick(content, task.id, BOXES)
        assert sum(a != b for a, b in zip(content, ticked, strict=True)) == 1
        assert untick(ticked, task.id, BOXES) == content


HARM = [
    "../../etc/passwd",
    "..",
    ".git/hooks",
    "1.1/../../x go",
    "a.lock",
    "1.1.lock go",
    "refs/heads/main",
    "-rf /",
    "--upload-pack=x",
    "$(rm -rf ~)",
    "`id`; rm -rf ~",
    "T001;reboot go",
    "1.1\x1b[2J go",
    "\x1b]0;owned\x07 go",
    "\x1b]8;;http://x.test\x07link\x1b]8;;\x07",
    "\x9b31mred",
    "\u202egnp.exe",
    "T\u200b001 go",
    "T001\u200b go",
    "a\u2066b\u2069c\u061cd",
    "\u2028new line",
    "\ufeff\u00ad\u2060",
    "\u200d\u200d\u200d",
    "١.٢ arabic digits",
    "T\u0661 more of them",
    "\u212a1 a kelvin sign",
    "ſ1 a long s",
    "１.１ wide digits",
    "\U000e0041\U000e0042 tags",
    "CON",
    "1.1" * 40,
    "T" + "9" * 300,
    "a" * 300,
    "@{-1}",
    "HEAD~1^{}",
    "%2e%2e%2f",
    "<script>alert(1)</script>",
]


@pytest.mark.parametrize("form", ["{}", "**{}**", "[{}] go", "`{}` go", "{}: go", "Task {}: go"])
def test_names_that_mean_harm_become_ids_and_titles_that_do_none(form: str) -> None:
    for harm in HARM:
        said = form.format(harm)
        roadmap = read(f"## {said}\n\n### {said}\n\n- [ ] {said}\n  - [ ] {said}\n- [ ] {said}\n".encode(), BOXES)
        assert len(everyone(roadmap)) == 3, harm
        check(roadmap)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{' ' * (2 * level)}- [ ] {level}\n" for level in range(1_000)),
        "- " * 10_000 + "[ ] x",
        "1. " * 10_000 + "[ ] x",
        "> " * 10_000 + "- [ ] x",
        "> - " * 5_000 + "[ ] x",
        "- [ ] a\n" + "\t" * 10_000 + "- [ ] x",
        "- [ ] " + "**" * 10_000,
        "- [ ] " + "[" * 10_000,
        "#" * 10_000,
        "- [ ] a\n  Files: " + "`" * 10_000,
        "- [ ] a\n  Files: " + "` `` ``` " * 3_000,
    ],
    ids=range(11),
)
def test_depth_without_end_is_survived_and_what_follows_is_read(text: str) -> None:
    roadmap = read(f"{text}\n\n# Next\n\n- [ ] after\n".encode(), BOXES)
    assert roadmap.tasks[-1].title == "after"
    check(roadmap)


PIECES = "word ,*,_,`,[ ] ,(depends on ,blocked by 1 ,`risk:x` ,\\,<!-- ,漢,\u202e,a/,1.,-,|,&,:,\x1b["


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] a\n\n* [ ] b\n\n",
        "- [ ] a\n\nFiles: x\n\n",
        "- [ ] a\n\n```\n```\n\n```\n```\n\n",
        "Files: x\n\n",
        "- [ ] same\n",
        "## same\n- [ ] same\n",
        "## a\n### b\n",
        "> - [ ] a\n",
        "- a\n  - b\n",
        "- [ ] a (depends on same)\n",
    ],
)
def test_the_same_over_and_over_takes_no_more_than_its_length(text: str) -> None:
    # A reader that looks at all before it for each piece would need minutes for this.
    check(read(text.encode() * (100_000 // len(text)), BOXES))


@pytest.mark.parametrize(
    "lead",
    [
        "- [ ] ",
        "## ",
        "- [ ] a\n  Files: ",
        "- [ ] a\n  Depends on: ",
        "- [ ] a\n  Verify: ",
        "> **Prerequisite**: ",
    ],
)
def test_a_line_without_end_is_read_and_what_follows_it(lead: str) -> None:
    for piece in PIECES.split(","):
        line = piece * (LARGE // len(piece.encode()))
        roadmap = read(f"{lead}{line}\n\n# Next\n\n- [ ] after\n".encode(), BOXES)
        assert roadmap.tasks[-1].title == "after"
        assert max(len(task.title) for task in everyone(roadmap)) <= 2_000
        check(roadmap)


def test_a_line_of_ten_megabytes_is_a_title_of_a_length_that_can_be_shown() -> None:
    (task,) = read(b"- [ ] " + b"word " * 2_000_000 + b"END\n", BOXES).tasks
    assert len(task.title) <= 2_000
    assert task.text.endswith("END")
