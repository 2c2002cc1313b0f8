from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.counterproof.mutants import Mutant, mutants_of, without_statements
from milepost.verify.counterproof.own_tests import Strength


def change(path: str, before: str, after: str) -> Change:
    return Change(files=(ChangedFile(path=path, before=before.encode(), after=after.encode()),))


def mutated(path: str, after: str, before: str = "") -> set[tuple[int, str]]:
    return lines_of(mutants_of(change(path, before, after), (path,), 50))


def lines_of(found: tuple[Mutant, ...]) -> set[tuple[int, str]]:
    return {(mutant.line, mutant.source.decode().splitlines()[mutant.line - 1].strip()) for mutant in found}


@pytest.mark.parametrize(
    ("line", "mutants"),
    [
        ("return (a) < (b)", {"return (a) >= (b)", "return None"}),
        ("x = (a + b) * 2", {"x = (a - b) * 2", "x = (a + b) + 2", "x = (a + b) * 3"}),
        ("if not a: pass", {"if False: pass"}),
        ("x = a and True", {"x = (not (a and True))", "x = a and False"}),
        ("return None", set()),
        ("'prose'", set()),
        ("warn('old', stacklevel=2)", set()),
        ("x: Literal[1] | None = a + 2", {"x: Literal[1] | None = a - 2", "x: Literal[1] | None = a + 3"}),
    ],
)
def test_each_small_fault_is_put_into_python(line: str, mutants: set[str]) -> None:
    assert mutated("a.py", f"def f(a, b):\n    {line}\n") == {(2, mutant) for mutant in mutants}


@pytest.mark.parametrize(
    ("line", "mutants"),
    [
        ("return a === 1;", {"return a !== 1;", "return a === 2;", "return undefined;"}),
        ("if (a) b();", {"if (false) b();"}),
        ("const f = (x) => x * y;", {"const f = (x) => x + y;", "const f = (x) => undefined;"}),
    ],
)
def test_each_small_fault_is_put_into_javascript(line: str, mutants: set[str]) -> None:
    assert mutated("a.ts", f"function g(a) {{\n  {line}\n}}\n") == {(2, mutant) for mutant in mutants}


@pytest.mark.parametrize(
    ("path", "line", "mutants"),
    [
        ("a.js", "text = text.replace(/(a)'s/g, '$1');", {";", "text = text.replace(/(?!)/g, '$1');"}),
        ("a.js", "throw new Error('none');", {";"}),
        ("a.js", "'use strict';", set()),
        ("a.py", "text = text.replace('a', 'b')", {"pass"}),
        ("a.py", "raise KeyError(a)", {"pass"}),
        ("a.py", "'prose'", set()),
    ],
)
def test_a_line_of_calls_and_text_loses_its_statement(path: str, line: str, mutants: set[str]) -> None:
    after = f"def f(a):\n    {line}\n" if path == "a.py" else f"function f(a) {{\n  {line}\n}}\n"

    assert mutated(path, after) == set()
    assert lines_of(without_statements(change(path, "", after), (path,))) == {(2, mutant) for mutant in mutants}


def test_only_changed_lines_are_mutated_and_always_in_the_same_way() -> None:
    before = "def f():\n    return 1 + 2\n"
    after = f"{before}\ndef g():\n    return 3\n"

    assert {line for line, _ in mutated("a.py", after, before)} == {5}
    many = change("a.py", "", "".join(f"x{number} = {number} + y\n" for number in range(100)))
    assert mutants_of(many, ("a.py",)) == mutants_of(many, ("a.py",))
    assert len({mutant.line for mutant in mutants_of(many, ("a.py",))}) == 12
    assert mutants_of(many, ()) == mutants_of(change("a.go", "", "x := 1"), ("a.go",)) == ()


def test_fewer_than_half_is_weak() -> None:
    assert [Strength(caught=caught, tried=4).is_weak for caught in (0, 1, 2, 4)] == [True, True, False, False]
