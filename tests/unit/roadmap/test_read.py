"""What is read from a roadmap: which boxes are tasks, where they stand, what they are called."""

from __future__ import annotations

import time

import pytest

from milepost.core.errors import RoadmapUnreadable
from milepost.core.task import Roadmap, Task
from milepost.roadmap import read
from milepost.roadmap.reading.source import LARGEST_BYTES


def read_text(text: str) -> Roadmap:
    return read(text.encode())


def titles(text: str) -> list[str]:
    return [task.title for task in read_text(text).tasks]


def only(text: str) -> Task:
    (task,) = read_text(text).tasks
    return task


@pytest.mark.parametrize("marker", ["-", "*", "+", "1.", "7)"])
def test_every_list_marker_makes_a_task(marker: str) -> None:
    assert titles(f"{marker} [ ] Write it\n") == ["Write it"]


@pytest.mark.parametrize(("mark", "status"), [(" ", "open"), ("x", "done"), ("X", "done")])
def test_the_mark_in_the_box_is_the_status(mark: str, status: str) -> None:
    assert only(f"- [{mark}] Write it").status == status


@pytest.mark.parametrize(
    "text",
    [
        "```\n- [ ] in a fence\n```\n",
        "text\n\n    - [ ] in indented code\n",
        "-     [ ] in indented code of an item\n",
        "<!--\n- [ ] in a comment\n-->\n",
        "| a | b |\n|---|---|\n| - [ ] | in a table |\n",
        "---\ntodo:\n- [ ] in front matter\n---\n",
        "- [ ]no space after the box\n",
        "- [  ] two spaces\n",
        "- [-] another mark\n",
        "- \\[ ] escaped\n",
        "- see [ ] not at the start\n",
        "- > [ ] in a quote inside the item\n",
        "- [ ]\n",
        "[ ] no list\n",
    ],
)
def test_what_github_does_not_show_as_a_box_is_no_task(text: str) -> None:
    roadmap = read_text(text)
    assert roadmap.tasks == ()
    assert "no task was found" in roadmap.problems[0].message


def test_a_box_on_the_line_after_its_marker_is_a_task_of_that_line() -> None:
    task = only("-\n  [ ] Write it\n")
    assert (task.title, task.line) == ("Write it", 2)


def test_a_title_on_the_line_after_the_box_is_found() -> None:
    task = only("- [ ]\n  Write it\n  with care\n")
    assert (task.title, task.line, task.text) == ("Write it", 1, "with care")


def test_boxes_in_a_quote_are_tasks() -> None:
    assert titles("> - [ ] One\n> - [x] Two\n") == ["One", "Two"]


def test_boxes_below_a_box_are_subtasks_and_an_item_without_a_box_is_a_heading() -> None:
    roadmap = read_text(
        "- Backend\n  - [ ] Store\n    - notes\n      - [x] Schema\n        1. [ ] Index\n  - [ ] Server\n- [ ] Front\n"
    )
    assert [task.title for task in roadmap.tasks] == ["Store", "Server", "Front"]
    assert [task.section for task in roadmap.tasks] == ["Backend", "Backend", ""]
    assert [(task.title, task.status, task.line) for task in roadmap.tasks[0].walk()] == [
        ("Store", "open", 2),
        ("Schema", "done", 4),
        ("Index", "open", 5),
    ]
    assert roadmap.tasks[0].subtasks[0].subtasks[0].title == "Index"


def test_the_second_level_of_headings_is_the_phase_and_what_is_below_it_the_section() -> None:
    roadmap = read_text(
        "- [ ] before\n# Plan\n- [ ] a\n## **Core**\n- [ ] b\n"
        "### Parser\n- [ ] c\n#### Tokens\n- [ ] d\n\nEdge\n----\n- [ ] e\n"
    )
    assert [(task.title, task.phase, task.section) for task in roadmap.tasks] == [
        ("before", "", ""),
        ("a", "Plan", ""),
        ("b", "Core", ""),
        ("c", "Core", "Parser"),
        ("d", "Core", "Tokens"),
        ("e", "Edge", ""),
    ]


def test_headings_that_call_themselves_phases_are_the_phases() -> None:
    roadmap = read_text("# Phase 1: Base\n## Parser\n- [ ] a\n# Phase 2: Top\n- [ ] b\n")
    assert [(task.phase, task.section) for task in roadmap.tasks] == [("Phase 1: Base", "Parser"), ("Phase 2: Top", "")]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("**Write** the *parser*", "Write the *parser*"),
        ("**Add `--all` flag** now", "Add `--all` flag"),
        ("Pass `**kw` and `**more`", "Pass `**kw` and `**more`"),
        ("**Write all\n  of it**", "Write all"),
        ("Compute 2**3 first", "Compute 2**3 first"),
        ("Fix __init__ of __main__.py", "Fix __init__ of __main__.py"),
        ("Write it (depends: 1.1, T002)", "Write it"),
        ("Write it (depends on 1.1).", "Write it"),
        ("Write it `depends:[1.1]`", "Write it"),
        ("Write it <!-- later -->", "Write it"),
        ("Red \x1b[31mtext\x1b[0m \x1b]0;title\x07here", "Red text here"),
        ("a\u202eb\u2066c\x9bd", "abc d"),
        ("解析器 👩‍👩‍👧", "解析器 👩‍👩‍👧"),
        ("1.1", "1.1"),
    ],
)
def test_a_title_is_plain_text_without_id_bold_and_metadata(line: str, title: str) -> None:
    assert read_text(f"- [ ] {line}\n- [x] 1.1 x\n- [x] T002 x\n").tasks[0].title == title


def test_line_ends_and_a_byte_order_mark_change_nothing_of_what_is_read() -> None:
    text = "# R\n\n- [ ] 1.1 Übung\n\t- [x] sub\n  Files: a.py\n\n1) [ ] zwei\n"
    expected = read_text(text)
    for line_end in ("\r\n", "\r"):
        for mark in ("", "\ufeff"):
            assert read_text(mark + text.replace("\n", line_end)) == expected
    assert [task.title for task in expected.tasks] == ["Übung", "zwei"]


def test_the_text_is_what_stands_below_the_title_without_indent_and_statements() -> None:
    task = only(
        "- [ ] Write it\n"
        "lazily wrapped\n"
        "  Files: a.py\n"
        "\n"
        "  Why:\n"
        "\n"
        "  ```make\n"
        "  all:\n"
        "  \tcc\n"
        "  ```\n"
        "  - [ ] sub\n"
        "    Verify: `true`\n"
        "  - **Verify:** `pytest`\n"
        "\n"
        "after the list\n"
    )
    assert task.text == ("lazily wrapped\n\nWhy:\n\n```make\nall:\n\tcc\n```\n- [ ] sub\n  Verify: `true`")
    assert (task.files, task.verify, task.subtasks[0].verify) == (("a.py",), ("pytest",), ("true",))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"- [ ] a\n\xff\n", "byte 8"),
        (b"- [ ] a\0", "byte 7"),
        ("- [ ] a".encode("utf-16"), "NUL"),
        (b" " * (LARGEST_BYTES + 1), "MB"),
    ],
)
def test_what_is_no_text_is_refused_with_the_place(content: bytes, said: str) -> None:
    with pytest.raises(RoadmapUnreadable, match=said) as refused:
        read(content)
    assert refused.value.advice


@pytest.mark.parametrize("text", ["- " * 10_000 + "[ ] x", "> " * 10_000 + "- [ ] x", "1. " * 10_000 + "[ ] x"])
def test_nesting_without_end_is_left_out_and_said(text: str) -> None:
    roadmap = read_text(f"{text}\n\n# Next\n\n- [ ] after\n")
    assert [task.title for task in roadmap.tasks] == ["after"]
    assert "deep" in roadmap.problems[0].message


def test_nesting_of_fifty_levels_is_read() -> None:
    text = "".join(f"{'  ' * level}- [ ] level {level}\n" for level in range(50))
    assert len(list(only(text).walk())) == 50


def test_a_megabyte_with_thousands_of_boxes_is_read_at_once() -> None:
    text = "".join(f"## Part {n}\n\n- [ ] {n}.1 Do {n}\n  {'words ' * 100}\n  - [x] part of {n}\n" for n in range(1500))
    started = time.process_time()
    roadmap = read_text(text)
    assert len(roadmap.tasks) == 1500
    assert time.process_time() - started < 3


@pytest.mark.parametrize("item", ["[] b", "[  ] b", "[x ] b", "[~] b", "[-] b", "[x]b", "[ ]b"])
def test_an_item_that_nearly_has_a_box_is_pointed_at(item: str) -> None:
    (problem,) = read_text(f"- [ ] a\n  - {item}\n").problems
    assert (problem.line, problem.kind, problem.fatal) == (2, "no task", False)
    assert "write `[ ] ` or `[x] `" in problem.message


@pytest.mark.parametrize("item", ["[x](a.md) b", "[1] b", "[ ]: b", "[v2] b", "b [] c", "[ ]"])
def test_an_item_with_other_brackets_is_left_in_peace(item: str) -> None:
    assert {problem.kind for problem in read_text(f"- [ ] a\n- {item}\n").problems} == {"left out"}


def test_an_open_box_that_is_called_done_is_pointed_at() -> None:
    text = "- [ ] ✅ a\n- [ ] b (DONE)\n- [x] ✅ c\n- [ ] 🚀 d\n- [ ] Show what is done\n"
    problems = read(text.encode()).problems
    assert [(problem.line, problem.kind) for problem in problems] == [(1, "contradiction"), (2, "contradiction")]


def test_a_title_shows_the_words_of_a_link_and_where_it_leads_is_in_the_text() -> None:
    plain, linked = read(b"- [ ] Read `a[0](b)`\n- [ ] Follow [the spec](docs/spec.md)\n  to the end\n").tasks
    assert (plain.title, plain.text) == ("Read `a[0](b)`", "")
    assert (linked.title, linked.text) == ("Follow the spec", "Follow [the spec](docs/spec.md)\n\nto the end")


def test_an_open_box_of_struck_words_is_pointed_at() -> None:
    roadmap = read_text("- [ ] ~~Old idea~~\n- [x] ~~Older idea~~\n- [ ] ~~Old~~ new idea\n")
    assert [(problem.line, problem.kind) for problem in roadmap.problems] == [(1, "struck")]
