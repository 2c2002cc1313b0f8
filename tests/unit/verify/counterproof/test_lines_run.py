"""Each statement says that it is run; the file does the same as before."""

from __future__ import annotations

import ast

from milepost.verify.counterproof.lines_run import lines_of, noting

SOURCE = '''"""A module."""
import functools
LIMIT = 3


@functools.cache
def sign(number):
    """A word."""
    if number > LIMIT:
        word = ("large"
                " indeed")
    elif number < 0: word = "negative"; return word
    else:
        try:
            word = {0: "zero"}[number]
        except KeyError:
            word = "small"

        class Word(str):
            kind = 1
    match number:
        case 1:
            return Word(word)
        case _:
            return word


async def later():
    async with lock as one, \\
            other:
        return [x for x in one]
'''


def ran(number: int) -> tuple[object, frozenset[int]]:
    changed = noting("a.py", SOURCE.encode(), "_seen")
    assert changed is not None
    begun: set[int] = set()
    space: dict[str, object] = {"_seen": lambda path, line: begun.add(line)}
    exec(compile(changed, "a.py", "exec"), space)
    sign = space["sign"]
    assert callable(sign)
    return sign(number), lines_of("a.py", SOURCE.encode(), frozenset(begun))


def test_the_lines_of_python_that_are_run_are_those_of_its_statements() -> None:
    assert ran(7) == ("large indeed", frozenset({9, 10, 11, 12, 21, 22, 25}))
    assert ran(-1)[1] == frozenset({9, 12})
    assert ran(2)[0] == "small"
    assert {15, 17} <= ran(2)[1]


def test_a_file_without_functions_has_nothing_to_note() -> None:
    assert noting("a.py", b"LIMIT = 3\n", "_seen") is None
    assert noting("a.js", b"const limit = 3;\n", "_seen") is None


SCRIPT = """
export function sign(number) {
  "use strict";
  if (number > 3) {
    return "large";
  }
  switch (number) {
    case 1:
      return "one";
    default:
      return "small";
  }
}
const twice = (number) =>
  number * 2;
"""


def test_the_statements_of_javascript_say_that_they_are_run() -> None:
    changed = noting("a.ts", SCRIPT.encode(), "_seen")
    assert changed is not None
    text = changed.decode()
    assert '"use strict";\n  globalThis._seen?.("a.ts", 4); if (number > 3) {' in text
    assert 'globalThis._seen?.("a.ts", 9); return "one";' in text
    assert '(globalThis._seen?.("a.ts", 15), number * 2);' in text
    assert lines_of("a.ts", SCRIPT.encode(), frozenset({4, 7, 9, 15})) == frozenset({4, 7, 9, 15})


def test_python_stays_python() -> None:
    changed = noting("a.py", SOURCE.encode(), "_seen")
    assert changed is not None
    calls = [node for node in ast.walk(ast.parse(changed)) if isinstance(node, ast.Expr) and "_seen" in ast.dump(node)]
    assert len(calls) == 14
