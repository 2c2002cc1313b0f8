from __future__ import annotations

from pathlib import Path

from milepost.core.change import Change, ChangedFile
from milepost.verify.checks.coverage import Covered, changed_lines, covered, in_ranges, judged, read_coverage


def test_tests_links_and_other_languages_have_no_changed_lines() -> None:
    files = (
        ChangedFile(path="a.py", before=b"x = 1\n", after=b"x = 1\ny = 2\n"),
        ChangedFile(path="tests/test_a.py", before=None, after=b"x = 1\n"),
        ChangedFile(path="a.js", before=None, after=b"x = 1\n"),
        ChangedFile(path="link.py", before=None, after=b"a.py", mode="120000"),
        ChangedFile(path="gone.py", before=b"x = 1\n", after=None),
    )

    assert changed_lines(Change(files=files)) == {"a.py": {2}}


def test_the_share_is_of_the_changed_lines_that_can_be_run() -> None:
    changed = {"a.py": frozenset(range(10, 21)), "unknown.py": frozenset({1})}
    measured = {"a.py": (frozenset({1, 10, 11}), frozenset({2, 12, 13, 20}))}

    found = covered(changed, measured)

    assert found == Covered(total=5, missed={"a.py": (12, 13, 20)})
    assert judged(found, 0.4) == ("passed", "40 % of 5 changed lines")
    assert judged(found, 0.41) == (
        "failed",
        "40 % of 5 changed lines, 41 % are required; no test runs a.py: 12–13, 20",
    )
    assert judged(Covered(total=0, missed={}), 1.0)[0] == "absent"


def test_ranges_are_told_short() -> None:
    assert in_ranges([20, 12, 13, 14, 15]) == "12–15, 20"


def test_what_is_no_report_of_coverage_is_not_read() -> None:
    for text in ("", "[]", '{"files": []}', '{"files": {"a": {}}}', "null"):
        assert read_coverage(text, Path("/checkout")) is None
    text = '{"files": {"/checkout/a.py": {"executed_lines": [1], "missing_lines": [2]}}}'
    assert read_coverage(text, Path("/checkout")) == {"a.py": (frozenset({1}), frozenset({2}))}
