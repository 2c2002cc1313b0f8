"""What tools make of their arguments before anything is done."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp", reason="the package mcp is not installed: pip install 'milepost[mcp]'")

from milepost import Misuse
from milepost.mcp.tools.execute import language_of
from milepost.mcp.tools.memory import about


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("x = 1\nprint(x)", "python"),
        ("1 + 1", "python"),
        ("def f(:", "python"),
        ("raise ValueError('const x = 1;')", "python"),
        ("const total: number = 3;\ntotal", "typescript"),
        ("console.log('x')", "typescript"),
        ("[1, 2].map(n => n * 2)", "typescript"),
        ("interface Point { x: number }\nfinalAnswer({x: 1})", "typescript"),
        ("import { x } from 'node:fs'", "typescript"),
    ],
)
def test_code_is_run_as_what_it_looks_like(code: str, language: str) -> None:
    assert language_of(code) == language


def test_a_context_is_an_error_or_an_object_with_errors_and_files() -> None:
    assert about("KeyError: 'x'") == ("KeyError: 'x'", ())
    told = {"error": "KeyError: 'x'", "files": ["a.py", "b.py"], "attempt": 2}
    assert about(told) == ("KeyError: 'x'\nattempt: 2", ("a.py", "b.py"))
    assert about({"files": "a.py"}) == ("", ("a.py",))
    with pytest.raises(Misuse, match="longer than 10000"):
        about({"error": "x" * 10_001})
