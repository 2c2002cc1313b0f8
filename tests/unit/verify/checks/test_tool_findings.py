from __future__ import annotations

from milepost.verify.checks.tool_findings import ToolFinding, fresh, keys, told


def finding(path: str, message: str, line: int = 1, code: str = "E1") -> ToolFinding:
    return ToolFinding(path=path, message=message, line=line, code=code)


def test_a_finding_that_only_moved_within_its_file_is_not_new() -> None:
    before = keys([finding("a.py", 'Name "x" already defined on line 3', line=9)])
    now = (finding("a.py", 'Name "x" already defined on line 30', line=90),)

    assert fresh(now, before, gone=frozenset()) == ()


def test_the_same_mistake_once_more_is_new() -> None:
    before = keys([finding("a.py", "bad", line=1)])
    now = (finding("a.py", "bad", line=1), finding("a.py", "bad", line=7))

    assert fresh(now, before, gone=frozenset()) == (now[1],)


def test_a_file_that_moved_takes_its_findings_along_and_no_more() -> None:
    before = keys([finding("old.py", "bad"), finding("kept.py", "bad")])
    now = (finding("new.py", "bad", line=1), finding("new.py", "bad", line=2), finding("kept.py", "bad"))

    moved = fresh(now, before, new=frozenset({"new.py"}), gone=frozenset({"old.py"}))
    stayed = fresh(now, before, new=frozenset({"new.py"}), gone=frozenset())

    assert moved == (now[1],)
    assert stayed == now[:2]


def test_a_finding_is_told_on_one_line_whatever_the_file_is_called() -> None:
    odd = ToolFinding(path="a\nb\x1b.py", line=3, message="bad", code="E1")

    assert told([odd]) == "a\\nb\\x1b.py:3: bad [E1]"
    assert told([odd] * 7).endswith("; and 2 more")
    assert keys([odd]) == {"a\\nb\\x1b.py\tE1\tbad\t1"}
