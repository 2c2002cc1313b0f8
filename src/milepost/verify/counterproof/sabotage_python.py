"""Sabotage of a Python file: every function of it begins with a call that fails when a test reached it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from milepost.verify.counterproof.edits import Edit, PythonText, is_python, read_python, spliced


def sabotaged(source: bytes, trip: str) -> bytes | None:
    """The file with a call of `trip` at the head of every function; None where there is none, or it is not Python."""
    read = read_python(source)
    edits = tuple(_edits(read, trip)) if read is not None else ()
    if read is None or not edits:
        return None
    changed = spliced(read.text, edits)
    return changed if is_python(changed) else None


def _edits(read: PythonText, trip: str) -> Iterator[Edit]:
    for node in ast.walk(read.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield read.at_head(node, f"{trip}()")
        elif isinstance(node, ast.Lambda):
            yield from read.around(node.body, f"({trip}(), (", "))[1]")
