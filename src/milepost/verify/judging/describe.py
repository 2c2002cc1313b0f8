"""What a changed test expected and what it expects now, in a few words for the person who is asked."""

from __future__ import annotations

import ast
import re

from milepost.core.same_lines import compare
from milepost.sources.python_tree import parsed
from milepost.verify.judging.paths import suffix

LONGEST = 240
MOST_LINES = 3

_STARTS = re.compile(r"\b(?:it|test|describe|specify|func|fn|def|void|TEST\w*)\b")


def expectation(path: str, before: str, after: str, test_id: str) -> tuple[int, str, str]:
    """Where a test stands now, what of it is gone, and what came instead; lines that only moved are left out.

    Of a test that is as it was, what changed in the rest of its file.
    """
    name = _name(test_id)
    _, old = _block(path, before, name)
    line, new = _block(path, after, name)
    if old == new:
        old, new = before.splitlines(), after.splitlines()
    removed, added = [], []
    for stretch in compare(old, new):
        if not stretch.same:
            removed += [row.strip() for row in old[stretch.old : stretch.old_end] if row.strip()]
            added += [row.strip() for row in new[stretch.new : stretch.new_end] if row.strip()]
    return line, _short(removed), _short(added)


def is_same(path: str, before: str, after: str, test_id: str) -> bool:
    """Whether a test is as it was, whatever became of the rest of its file."""
    name = _name(test_id)
    return _block(path, before, name)[1] == _block(path, after, name)[1]


def _name(test_id: str) -> str:
    """The function or title that an id ends with, without parameters."""
    last = re.split(r"::| > ", test_id)[-1]
    return last.partition("[")[0].partition(" #")[0]


def _block(path: str, text: str, name: str) -> tuple[int, list[str]]:
    """The line and the lines of a test; all of the file where it cannot be found."""
    lines = text.splitlines()
    tree = parsed(text) if suffix(path) == ".py" else None
    if tree is not None:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and name.rpartition(".")[2] == node.name:
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                return node.lineno, lines[first - 1 : node.end_lineno]
        return 0, lines
    start = next((at for at, line in enumerate(lines) if name in line and _STARTS.search(line)), None)
    if start is None:
        return 0, lines
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = next((at for at in range(start + 1, len(lines)) if _closes(lines[at], indent)), len(lines))
    return start + 1, lines[start : end + 1]


def _closes(line: str, indent: int) -> bool:
    return bool(line.strip()) and len(line) - len(line.lstrip()) <= indent


def _short(lines: list[str]) -> str:
    text = " / ".join(lines[:MOST_LINES]) + (" / …" if len(lines) > MOST_LINES else "")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
