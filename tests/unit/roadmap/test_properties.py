"""What holds for every roadmap that can be written: ids are safe, unique and stable, and a tick changes one byte."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from milepost.core.task import Roadmap, Task
from milepost.roadmap import read, tick, untick
from milepost.roadmap.reading.options import Manner

BOXES = Manner(dialect="boxes", parents=False)
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

WORDS = (
    "add fix the parser store tests docs 7 解析 naïve émoji 🚀 👩‍👧 `code` *soft* Ω [link](x) a_b 2**3 <b> & | \\ #3"
)
words = st.sampled_from(WORDS.split(" "))
phrases = st.lists(words, min_size=1, max_size=4).map(" ".join)
ids = st.sampled_from(["", "", "", "1.1 ", "1.2: ", "T001 ", "[T002] ", "**1.3** ", "S01: ", "Task 4: ", "B2 ", "B3 "])
labels = st.sampled_from(["", "", "", "[P] ", "[US1] ", "[P] [US2] "])
tails = st.sampled_from(
    ["", "", "", " (depends on 1.1)", " (blocked by Phase 1)", " `risk:low`", " blocked by #9", "."]
)
boxes = st.sampled_from(["[ ] ", "[ ] ", "[x] ", "[X] ", ""])
markers = st.sampled_from(["- ", "- ", "* ", "+ ", "1. ", "2) "])
titles = st.builds("{}{}{}{}".format, ids, labels, phrases | phrases.map("**{}** rest".format), tails)
statements = st.builds(
    "{}: {}".format,
    st.sampled_from(["Files", "**Verify**", "Depends on", "Agent", "Priority", "**Prerequisite**", "Budget", "Needs"]),
    st.sampled_from(["a.py", "`pytest -q`", "1.1, T001", "high", "Phase 1", "$1", "none", ""]) | phrases,
)


@st.composite
def items(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """A list item with what is below it."""
    marker = draw(markers)
    lines = [f"{marker}{draw(boxes)}{draw(titles)}"]
    below = draw(st.lists(st.one_of(bodies, statements.map(lambda one: [one])), max_size=2))
    if depth < 3:
        below += draw(st.lists(items(depth + 1), max_size=2))
    indent = draw(st.sampled_from([" " * len(marker), " " * len(marker), "\t"]))
    return lines + [f"{indent}{line}" if line else "" for block in below for line in block]


bodies = st.one_of(
    phrases.map(lambda text: [text]),
    statements.map(lambda text: [f"- {text}"]),
    titles.map(lambda text: ["```", f"- [ ] {text}", f"## {text}", "```"]),
    titles.map(lambda text: ["<!--", f"- [ ] {text}", "-->"]),
)
blocks = st.one_of(
    items(),
    items(),
    items().map(lambda lines: [f"> {line}" for line in lines]),
    st.builds(lambda level, text: [f"{'#' * level} {text}"], st.integers(1, 4), phrases),
    st.builds(lambda number, text: [f"## Phase {number}: {text}"], st.integers(1, 3), phrases),
    statements.map(lambda text: [text]),
    bodies,
    titles.map(lambda text: ["| a | b |", "|---|---|", f"| - [ ] {text.replace('|', '')} | x |"]),
    titles.map(lambda text: ["", f"    - [ ] {text}"]),
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    line_end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    head = draw(st.sampled_from(["", "", "\ufeff", "---\ntodo: [ ]\n---\n"]))
    gaps = st.sampled_from([[""], [""], []])
    lines = [line for block in draw(st.lists(blocks, max_size=8)) for line in (*block, *draw(gaps))]
    return (head + "\n".join(lines)).replace("\n", line_end).encode()


def everyone(roadmap: Roadmap) -> list[Task]:
    return [task for top in roadmap.tasks for task in top.walk()]


@given(documents())
@settings(max_examples=100)
def test_every_roadmap_is_read_with_ids_that_are_safe_and_unique_and_titles_that_can_be_printed(content: bytes) -> None:
    roadmap = read(content, BOXES)
    tasks = everyone(roadmap)
    for task in tasks:
        assert ID.fullmatch(task.id)
        assert ".." not in task.id
        assert not task.id.lower().endswith((".", ".lock"))
        for shown in (task.title, task.phase, task.section):
            assert shown.replace("\u200d", "").isprintable()
        assert task.title.strip()
    assert len({task.id.casefold() for task in tasks}) == len(tasks)
    assert {name for task in tasks for name in task.depends_on} <= {task.id for task in roadmap.tasks}
    assert [task.line for task in tasks] == sorted(task.line for task in tasks)
    assert read(content, BOXES) == roadmap


@given(documents(), st.data())
@settings(max_examples=100)
def test_a_tick_changes_one_byte_of_a_leaf_and_an_untick_takes_it_back(content: bytes, data: st.DataObject) -> None:
    tasks = everyone(read(content, BOXES))
    leaves = [task for task in tasks if not task.subtasks]
    assume(leaves)
    leaf = data.draw(st.sampled_from(leaves))
    turn, back = (tick, untick) if leaf.status == "open" else (untick, tick)
    turned = turn(content, leaf.id, BOXES)
    (place,) = (place for place in range(len(content)) if content[place] != turned[place])
    assert len(turned) == len(content)
    assert (content[place - 1 : place], content[place + 1 : place + 2]) == (b"[", b"]")
    after = everyone(read(turned, BOXES))
    assert [task.id for task in after] == [task.id for task in tasks]
    assert [task.id for task, was in zip(after, tasks, strict=True) if task.status != was.status] == [leaf.id]
    if content[place : place + 1] != b"X":
        assert back(turned, leaf.id, BOXES) == content


# Outlines of which a line can be put in, taken out or moved without any other standing elsewhere.
NAMES = "add fix the parser store tests docs 解析 7 B2"
names = st.lists(st.sampled_from(NAMES.split(" ")), min_size=1, max_size=4).map(" ".join)
outlines = st.lists(
    st.tuples(st.sampled_from(["## ", "### ", "- [ ] ", "- [x] ", "  - [ ] "]), names), min_size=1, max_size=14
)


def written(outline: list[tuple[str, str]]) -> bytes:
    return "".join(f"\n{lead}{name}\n\n" if "#" in lead else f"{lead}{name}\n" for lead, name in outline).encode()


def ids_of(outline: list[tuple[str, str]]) -> list[str]:
    return [task.id for task in everyone(read(written(outline), BOXES))]


@given(outlines, names, st.sampled_from(["- [ ] ", "- [x] "]), st.data())
@settings(max_examples=100)
def test_an_unrelated_task_put_in_or_taken_out_renames_nobody(
    outline: list[tuple[str, str]], name: str, lead: str, data: st.DataObject
) -> None:
    # Also those that others of the same words stand beside, which are told apart by a suffix, keep theirs.
    before = ids_of(outline)
    free = [at for at in range(len(outline) + 1) if at == len(outline) or not outline[at][0].startswith(" ")]
    place = data.draw(st.sampled_from(free))
    new = (lead, f"unrelated {name}")
    assume(new[1] not in {name for _, name in outline})
    wider = [*outline[:place], new, *outline[place:]]
    (added,) = (Counter(ids_of(wider)) - Counter(before)).elements()
    assert [one for one in ids_of(wider) if one != added] == before
    assert added.startswith("unrelat")


@given(st.lists(names, min_size=2, max_size=10, unique=True), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_tasks_in_another_order_have_the_same_ids(titles: list[str], random: object) -> None:
    outline = [("- [ ] ", title) for title in titles]
    moved = list(outline)
    random.shuffle(moved)  # type: ignore[attr-defined]
    expected = dict(zip(titles, ids_of(outline), strict=True))
    assert dict(zip((title for _, title in moved), ids_of(moved), strict=True)) == expected


def test_an_id_of_somebody_never_takes_the_name_of_a_second_task_of_the_same_words() -> None:
    pair = [("- [ ] ", "same"), ("- [ ] ", "same")]
    first, second = ids_of(pair)
    for other in (second, first, "T1", "same 2", "2"):
        for place in range(3):
            found = ids_of([*pair[:place], ("- [ ] ", other), *pair[place:]])
            assert [one for one in found if one in (first, second)] == [first, second]
