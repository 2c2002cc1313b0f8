from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.checks.does_anything import has_substance


def judged(path: str, before: str | None, after: str | None, *files: str) -> bool:
    file = ChangedFile(
        path=path,
        before=before.encode() if before is not None else None,
        after=after.encode() if after is not None else None,
    )
    return has_substance(Change(files=(file,)), files)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "x = 1\n", "x = 1  # one\n"),
        ("a.py", "def f():\n    return 1\n", 'def f():\n    """Gives one."""\n    return (1)\n'),
        ("a.py", "x = 1\n", "\r\nx=1\r\n\r\n"),
        ("a.py", None, '"""Only prose."""\n# and a comment\n'),
        ("a.ts", "const x: number = 1\n", "// one\nconst x: number = 1;\n"),
        ("a.js", "f('a', 1)\n", 'f(\n  "a",\n  1, // one\n);\n'),
        ("a.go", "x := 1\n", "// one\n\n   x := 1\n"),
        ("a.rs", "let x = 1;\n", "/* one\n two */\nlet x = 1;\n"),
        ("a.sh", "ls\n", "# list\nls\n"),
        ("a.md", "text\n", "text\n\n"),
        ("empty.txt", None, ""),
    ],
)
def test_comments_layout_and_prose_in_code_are_no_substance(path: str, before: str | None, after: str) -> None:
    assert not judged(path, before, after)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "x = 1\n", "x = 2\n"),
        ("a.py", "def f(x):\n    return x\n", "def f(x: int) -> int:\n    return x\n"),
        ("a.py", "x = 1\n", "x = (\n"),
        ("a.py", "x = 1\n", None),
        ("a.py", None, "x = 1\n"),
        ("a.js", "f('a')\n", "f('b')\n"),
        ("a.go", "x := 1\n", "x := 2\n"),
        ("a.md", "text\n", "other\n"),
        ("pkg/__init__.py", None, ""),
    ],
)
def test_what_runs_or_reads_otherwise_is_substance(path: str, before: str | None, after: str | None) -> None:
    assert judged(path, before, after)


def test_a_change_beside_the_named_files_has_none_for_the_task() -> None:
    assert judged("src/a.py", None, "x = 1\n", "src/")
    assert judged("src/a.py", None, "x = 1\n", "docs/x.md", "src/*.py")
    assert not judged("src/a.py", None, "x = 1\n", "src/b.py")
    assert not judged("src/a.py", None, "x = 1\n", "sr")
    assert not judged("src/a.py", None, "# x\n", "src/a.py")
    assert not has_substance(Change(), ())
