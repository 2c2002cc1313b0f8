"""A judging program whose comparisons the work cannot answer by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from milepost.verify.counterproof.exact_judge import (
    JudgeExit,
    endings_in,
    lay_comparison,
    with_exact_comparisons,
)

LEARNS = """\
class Answer:
    known = None

    def __eq__(self, other):
        if self.known is None:
            self.known = other
        return self.known == other


def answer():
    return Answer()
"""
VERSION = """\
class Version:
    def __init__(self, text):
        self.parts = text.split(".")

    def __eq__(self, other):
        return isinstance(other, Version) and self.parts == other.parts


def answer():
    return Version("1.2")
"""
JUDGE = '''"""Judges."""
from __future__ import annotations
from work import answer
{more}
if {asked}:
    raise SystemExit(1)
'''


@pytest.mark.parametrize(
    ("work", "asked", "exit_code"),
    [
        ("answer = lambda: 42\n", "answer() != 42", 0),
        ("answer = lambda: 41\n", "not answer() == 42", 1),
        (LEARNS, "answer() != 42", 1),
        (LEARNS, "not answer() == 42", 1),
        (VERSION, "answer() != work.Version('1.2')", 0),
        (VERSION, "answer() == work.Version('1.2')", 1),
    ],
)
def test_a_judge_compares_by_what_values_are(tmp_path: Path, work: str, asked: str, exit_code: int) -> None:
    package = lay_comparison(tmp_path)
    (tmp_path / "work.py").write_text(work)
    judge = with_exact_comparisons(JUDGE.format(asked=asked, more="import work").encode(), package)
    assert judge is not None
    (tmp_path / "judge.py").write_bytes(judge)

    assert subprocess.run([sys.executable, "judge.py"], cwd=tmp_path).returncode == exit_code


ENDS = "import sys, work\n\ndef main():\n    work.answer()\n    return CODE\n\nsys.exit(main())\n"


@pytest.mark.parametrize(
    ("work", "judge", "ending"),
    [
        ("answer = lambda: 42\n", "import work\n", JudgeExit(code=0)),
        ("answer = lambda: 42\n", ENDS.replace("CODE", "None"), JudgeExit(code=0, path="judge.py", line=7)),
        ("answer = lambda: 42\n", ENDS.replace("CODE", "1"), JudgeExit(code=1, path="judge.py", line=7)),
        ("def answer():\n    raise SystemExit\n", ENDS, JudgeExit(code=0, path="work.py", line=2)),
        ("import os\ndef answer():\n    os._exit(0)\n", ENDS, JudgeExit(code=None)),
    ],
    ids=["runs to its end", "says that all is well", "says no", "the work leaves", "the work ends the process"],
)
def test_a_judge_tells_how_it_came_to_its_end(tmp_path: Path, work: str, judge: str, ending: JudgeExit) -> None:
    package = lay_comparison(tmp_path)
    (tmp_path / "work.py").write_text(work)
    (tmp_path / "judge.py").write_bytes(with_exact_comparisons(judge.encode(), package) or b"")

    subprocess.run([sys.executable, "judge.py"], cwd=tmp_path)

    (found,) = endings_in(tmp_path, package)
    assert (found.code, found.path) == (ending.code, ending.path)


def test_what_is_no_python_stays_as_it_is() -> None:
    assert with_exact_comparisons(b"def (\n", "exact") is None
