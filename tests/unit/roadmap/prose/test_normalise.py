"""Items that a model found in prose are held against the document; what was done stays done."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from milepost.core.task import TaskStatus
from milepost.roadmap import read
from milepost.roadmap.prose.answers import FoundItem
from milepost.roadmap.prose.keep_done import KnownItem, kept
from milepost.roadmap.prose.normalise import Anchored, ProseDocument, numbered
from milepost.roadmap.prose.to_roadmap import manuscript_of
from milepost.roadmap.writing.write import write

TEXT = """\
# Durations

We want a small library. First of all it has to parse
durations such as 1h30m (in durations/parse.py), which
`pytest tests/test_parse.py` must show.

## 2. Later

Formatting them comes after that. The command line is done already.
日本語の説明を書く。
"""
PRD = TEXT.split("\n")


def item(title: str, line: int, words: str, **more: Any) -> FoundItem:
    return FoundItem(title=title, source_line=line, source_words=words, **more)


PARSE = item("Parse durations", 3, "First of all it has to parse", files=["durations/parse.py"])
FORMAT = item("Format durations", 9, "Formatting them comes after that.", depends_on=[1])
DONE = item("Write the command line", 9, "The command line is done already", status="done")


def test_items_come_with_the_line_that_asks_for_them_in_the_order_of_the_document() -> None:
    found, left_out = ProseDocument(PRD).anchored(
        [FORMAT.model_copy(update={"depends_on": ["parse  Durations"]}), PARSE, DONE]
    )

    assert left_out == ()
    assert [(one.title, one.line, one.status, one.after) for one in found] == [
        ("Parse durations", 3, "open", ()),
        ("Format durations", 9, "open", (0,)),
        ("Write the command line", 9, "done", ()),
    ]
    assert found[0].files == ("durations/parse.py",)
    assert numbered(PRD).split("\n")[8] == " 9| Formatting them comes after that. The command line is done already."


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("it has to parse durations such as 1h30m", 3),
        ("durations such as `1h30m`", 4),
        ("FORMATTING  them comes", 9),
        ("日本語の説明を書く", 10),
        ("Durations", 1),
    ],
)
def test_a_quotation_may_break_over_lines_and_lead_to_a_line_nearby(words: str, line: int) -> None:
    [found], _ = ProseDocument(PRD).anchored([item("A title", min(line + 2, len(PRD)) if line > 1 else 1, words)])
    assert found.line == line or (line == 3 and found.line in (3, 4, 5))


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        (item("A", 999, "Formatting them"), "there is no line 999: the document has 11"),
        (item("A", 3, "Formatting them comes"), "line 3 does not say 'Formatting them comes'; line 9 does"),
        (item("A", 3, "Delete the database"), "line 3 does not say 'Delete the database', nor does any other line"),
        (item("A", 3, "all"), "is too short to identify a line"),
        (item("A", 3, "…!"), "is too short to identify a line"),
    ],
)
def test_an_item_that_the_document_does_not_have_is_refused_with_the_reason(claimed: FoundItem, said: str) -> None:
    document = ProseDocument(PRD)
    [objection] = document.objections([PARSE, claimed])
    assert objection.startswith("item 2 ('A')") and said in objection
    found, left_out = document.anchored([PARSE, claimed])
    assert [one.title for one in found] == ["Parse durations"] and left_out == (objection,)


@pytest.mark.parametrize(
    ("changed", "said", "field"),
    [
        ({"verify": ["rm -rf /"]}, "item 1: the document does not state the command 'rm -rf /'", "verify"),
        ({"files": ["../../etc/passwd"]}, "does not name the file '../../etc/passwd'", "files"),
        ({"files": ["/durations/parse.py"]}, "does not name the file", "files"),
        ({"files": ["made/up.py"]}, "does not name the file 'made/up.py'", "files"),
        ({"depends_on": [7]}, "item 1 depends on 7, which is not an item", "after"),
        ({"depends_on": ["1"]}, "item 1 depends on itself", "after"),
        ({"depends_on": ["Nothing"]}, "item 1 depends on 'Nothing', which is not an item", "after"),
    ],
)
def test_what_the_document_does_not_say_is_left_out_of_an_item(changed: dict[str, Any], said: str, field: str) -> None:
    found, [left_out] = ProseDocument(PRD).anchored([PARSE.model_copy(update=changed)])
    assert said in left_out
    assert getattr(found[0], field) == ()


def test_a_command_that_the_document_states_is_kept() -> None:
    [found], left_out = ProseDocument(PRD).anchored(
        [PARSE.model_copy(update={"verify": ["$ pytest tests/test_parse.py"]})]
    )
    assert (found.verify, left_out) == (("pytest tests/test_parse.py",), ())


def test_items_that_wait_for_each_other_and_items_twice_are_told() -> None:
    first = PARSE.model_copy(update={"depends_on": [2]})
    found, left_out = ProseDocument(PRD).anchored([first, FORMAT, FORMAT])
    assert left_out == ("items 2 → 1 → 2 wait for each other", "item 3 is the same as item 2")
    assert [one.after for one in found] == [(1,), ()]


def test_the_roadmap_has_the_headings_of_the_document_and_says_where_each_task_comes_from() -> None:
    found, _ = ProseDocument(PRD).anchored([PARSE, FORMAT, DONE])
    text = write(manuscript_of(found, PRD, "PRD.md", "openai:gpt"))

    assert "- [ ] 2.1 Format durations <!-- from PRD.md:9 -->\n  - Depends on: 1.1\n" in text
    assert "Read from `PRD.md` by `openai:gpt`; each task" in text
    tasks = read(text.encode()).tasks
    assert [(task.id, task.phase, task.status) for task in tasks] == [
        ("1.1", "Phase 1: Durations", "open"),
        ("2.1", "Phase 2: Later", "open"),
        ("2.2", "Phase 2: Later", "done"),
    ]


@pytest.mark.parametrize(
    "name", ["a b (v2)/`x`.md", "--> - [ ] x.md", "a\nb.md", "[x](y) **z**.md", "- [ ] x.md", "日本.md"]
)
def test_a_document_may_have_any_name(name: str) -> None:
    found, _ = ProseDocument(PRD).anchored([PARSE])
    assert len(read(write(manuscript_of(found, PRD, name, "openai:gpt")).encode()).tasks) == 1


def anchored(title: str, said: str = "", status: TaskStatus = "open") -> Anchored:
    return Anchored(title=title, text="", status=status, line=1, said=said)


def known(title: str, said: str = "", status: TaskStatus = "done") -> KnownItem:
    return KnownItem(title=title, said=said, status=status)


@pytest.mark.parametrize(
    ("items", "before", "ticks", "statuses"),
    [
        ([anchored("Parse it")], [], [], ["open"]),
        ([anchored("Parse it", status="done")], [], [], ["done"]),
        ([anchored("Parse it", "a line")], [known("Other words", "A  line")], [], ["done"]),
        ([anchored("Parse  IT")], [known("parse it")], [], ["done"]),
        ([anchored("Parse all durations now")], [known("Parse all durations")], [], ["done"]),
        ([anchored("Parse durations")], [known("Format durations")], [], ["open"]),
        ([anchored("Parse it")], [known("Parse it")], [known("Parse it", status="open")], ["open"]),
        ([anchored("Parse it")], [known("Parse it", status="open")], [known("Parse it")], ["done"]),
        (
            [anchored("A login", "both"), anchored("A logout", "both")],
            [known("A logout", "both")],
            [],
            ["open", "done"],
        ),
        (
            [anchored("New thing", "both"), anchored("A logout", "both")],
            [known("A login", "both")],
            [],
            ["open", "open"],
        ),
        ([anchored("Same"), anchored("Same")], [known("Same")], [], ["done", "open"]),
    ],
)
def test_what_was_done_stays_done_and_the_users_file_goes_first(
    items: list[Anchored], before: list[KnownItem], ticks: list[KnownItem], statuses: list[str]
) -> None:
    assert [one.status for one in kept(items, before, ticks)] == statuses


# What moves the cursor or turns the writing direction.
HARMFUL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
WORDS = st.text(max_size=60) | st.sampled_from(
    ["- [ ] x", "Files: a.py", "```", "# x", "(depends on 1.2)", "**", "[P] x", "<!--", "1.1", "a\n- [x] b", "\x1b[2J"]
)
ITEMS = st.builds(
    FoundItem,
    title=WORDS.filter(lambda text: bool(text.strip())),
    description=WORDS,
    status=st.sampled_from(["open", "done"]),
    source_line=st.integers(1, 12),
    source_words=st.sampled_from([line for line in PRD if line] + ["x"]),
    files=st.lists(WORDS.filter(lambda text: bool(text.strip()) and text.isprintable()), max_size=2),
    verify=st.lists(st.sampled_from(["pytest tests/test_parse.py", "`x`", "rm -rf /"]), max_size=2),
    depends_on=st.lists(st.integers(-1, 5) | WORDS, max_size=3),
)


@example(
    [
        FoundItem(title="A", description="", source_line=4, source_words=PRD[3]),
        FoundItem(title="B", description="<!--", source_line=4, source_words=PRD[3], depends_on=[1]),
    ]
)
@given(st.lists(ITEMS, max_size=4))
def test_whatever_a_model_answers_can_be_written_and_is_anchored(items: list[FoundItem]) -> None:
    found, left_out = ProseDocument(PRD).anchored(items)
    text = write(manuscript_of(found, PRD, "PRD.md", "model"))

    assert not HARMFUL.search(text)
    tasks = read(text.encode()).tasks
    assert len(tasks) == len(found)
    assert all(1 <= one.line <= len(PRD) and one.said == PRD[one.line - 1].strip() for one in found)
    assert "rm -rf" not in [command for task in tasks for command in task.verify]
    assert not [problem for problem in read(text.encode()).problems if problem.fatal]
    assert len(found) + len(left_out) >= len(items)
