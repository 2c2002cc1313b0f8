"""What changed in files, as rows of values."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from milepost.core.same_lines import compare
from milepost.web.diff.rows import ALL_LINES, MOST_ROWS, ShownFileDiff, Sides, file_diff, file_diffs

# Few different lines, so that they repeat; every kind of end, and signs that other programs take for one.
LINES = st.sampled_from(["", "a", "b", "c\r", "\u2028", "\x0b", "def f():", '"""', "\ufeff", "\0", "é", "\ud800"])
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(LINES, max_size=30), st.sampled_from(["", "\n"]))


def shown(diff: ShownFileDiff, signs: str) -> list[str]:
    """The texts of the rows with one of some signs."""
    rows = [row for hunk in diff.hunks for row in hunk.rows]
    return ["".join(text for _, text in pieces) for sign, _, _, pieces in rows if sign in signs]


def lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


@given(before=TEXTS, after=TEXTS, name=st.sampled_from(["a.py", "a.md", "a.json", "a.js", "a"]))
@example(before="a\n", after="a", name="a.py")
@example(before="c\r\nc\r", after="\n", name="a.py")
def test_the_rows_of_each_side_joined_are_that_side(before: str, after: str, name: str) -> None:
    diff = file_diff(Sides(path=name, before=before, after=after), ALL_LINES)
    if before == after:
        assert diff.hunks == ()
        return
    windows = before.count("\n") + after.count("\n") == before.count("\r\n") + after.count("\r\n") > 0
    was, now = (text.replace("\r\n", "\n") if windows else text for text in (before, after))
    assert shown(diff, " -") == lines(was)
    assert shown(diff, " +") == lines(now)
    assert (len(shown(diff, "+")), len(shown(diff, "-"))) == (diff.added, diff.removed)
    assert not any("\n" in text for text in shown(diff, " +-"))


@given(before=TEXTS, after=TEXTS, context=st.integers(0, 4), room=st.integers(0, 20))
def test_what_is_folded_or_cut_is_a_part_of_the_whole_in_its_order(
    before: str, after: str, context: int, room: int
) -> None:
    sides = Sides(path="a.txt", before=before, after=after)
    whole = [row for hunk in file_diff(sides, ALL_LINES).hunks for row in hunk.rows]
    folded = file_diff(sides, context)
    rows = [row for hunk in folded.hunks for row in hunk.rows]
    assert [row for row in rows if row[0] != " "] == [row for row in whole if row[0] != " "]
    assert [row for row in whole if row in rows] == rows
    cut = file_diff(sides, context, room)
    assert [row for hunk in cut.hunks for row in hunk.rows] == rows[:room]
    assert cut.cut == (len(rows) > room)
    assert (cut.added, cut.removed) == (folded.added, folded.removed)


@given(old=st.lists(st.sampled_from("abcdef")), new=st.lists(st.sampled_from("abcdef")))
def test_stretches_cover_both_texts_and_say_the_truth(old: list[str], new: list[str]) -> None:
    found = compare(old, new)
    for one, other in pairwise(found):
        assert (one.old_end, one.new_end) == (other.old, other.new)
    assert sum(each.old_end - each.old for each in found) == len(old)
    assert sum(each.new_end - each.new for each in found) == len(new)
    for each in found:
        if each.same:
            assert old[each.old : each.old_end] == new[each.new : each.new_end] != []


def test_a_hunk_has_three_lines_around_a_change_and_says_what_it_is_in() -> None:
    old = "def f():\n" + "".join(f"    line {n}\n" for n in range(1, 30))
    new = old.replace("line 10\n", "line ten\n").replace("    line 25\n", "")
    first, second = file_diff(Sides(path="a.py", before=old, after=new)).hunks
    assert first.header == "@@ -8,7 +8,7 @@ def f():"
    assert [row[:3] for row in first.rows][2:6] == [(" ", 10, 10), ("-", 11, None), ("+", None, 11), (" ", 12, 12)]
    assert second.header == "@@ -23,7 +23,6 @@ def f():"
    (everything,) = file_diff(Sides(path="a.py", before=old, after=new), ALL_LINES).hunks
    assert len(everything.rows) == 31


@pytest.mark.parametrize(
    ("before", "after", "header"),
    [
        (None, "a\nb\n", "@@ -0,0 +1,2 @@"),
        ("a\nb\n", None, "@@ -1,2 +0,0 @@"),
        ("a\n", "a\nb\n", "@@ -1,1 +1,2 @@"),
    ],
)
def test_a_header_counts_as_git_does(before: str | None, after: str | None, header: str) -> None:
    (hunk,) = file_diff(Sides(path="a.txt", before=before, after=after)).hunks
    assert hunk.header == header


def test_a_string_over_many_lines_is_a_string_on_each_of_them() -> None:
    old = 'x = """\n' + "one two\n" * 20 + '"""\n'
    (hunk,) = file_diff(Sides(path="a.py", before=old, after=old.replace("two\n", "2\n", 11))).hunks
    words = {text: kind for _, _, _, pieces in hunk.rows for kind, text in pieces}
    assert words["one 2"] == words["one two"] != ""


def test_lines_that_end_as_those_of_windows_do_differ_only_where_they_differ() -> None:
    diff = file_diff(Sides(path="a.txt", before="a\r\nb\r\n", after="a\r\nc\r\n"))
    assert shown(diff, " +-") == ["a", "b", "c"]
    mixed = file_diff(Sides(path="a.txt", before="a\r\nb\n", after="a\nb\n"))
    assert shown(mixed, "+-") == ["a\r", "a"], "an end that changed is told"


def test_a_lost_newline_at_the_end_is_told() -> None:
    diff = file_diff(Sides(path="a.txt", before="a\n", after="a", note="mode 100644 → 100755"))
    assert diff.note == "mode 100644 → 100755; no newline at the end of the last line"
    assert shown(diff, "+-") == ["a", "a"]


def test_what_programs_write_and_what_is_long_is_marked_and_shown() -> None:
    diff = file_diff(Sides(path="uv.lock", before="", after="a\n" * 1_000, generated=True))
    assert diff.generated and diff.long and not diff.cut and len(diff.hunks[0].rows) == 1_000
    large = file_diff(Sides(path="uv.lock", added=70_000, removed=2, cut=True))
    assert (large.added, large.removed, large.long, large.cut) == (70_000, 2, True, True)


def test_no_text_makes_the_comparison_long() -> None:
    """Two letters over and over: line by line this would be some ten thousand millions of comparisons."""
    before, after = "a\nb\n" * 60_000, "b\na\na\n" * 40_000
    (first, second) = file_diffs([Sides(path="a.txt", before=before, after=after)] * 2)
    assert (first.removed, first.added) == (120_000, 120_000)
    assert sum(len(hunk.rows) for hunk in first.hunks) == MOST_ROWS and first.cut
    assert second.hunks == () and second.cut, "there is no room for more, and it says so"
