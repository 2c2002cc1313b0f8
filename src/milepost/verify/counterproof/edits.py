"""Edits of a source file by the place of what they replace; the rest stays as it is, to the byte."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

_COOKIE = re.compile(r"coding(?=[=:])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """`text` in the place of the bytes from `start` to `end`; an insertion where both are the same."""

    start: int
    end: int
    text: str


def spliced(source: bytes, edits: Iterable[Edit]) -> bytes:
    """The source with all edits, which do not overlap."""
    parts: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += (source[at : edit.start], edit.text.encode("utf-8", "surrogatepass"))
        at = edit.end
    return b"".join((*parts, source[at:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonText:
    """A Python file as UTF-8, whatever it was written in, and its tree."""

    text: bytes
    tree: ast.Module
    starts: tuple[int, ...]

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def around(self, node: ast.expr, before: str, after: str) -> tuple[Edit, Edit]:
        start, end = self.start(node), self.end(node)
        return Edit(start=start, end=start, text=before), Edit(start=end, end=end, text=after)

    def instead(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        return Edit(start=self.start(node), end=self.end(node), text=text)

    def at_head(self, function: ast.FunctionDef | ast.AsyncFunctionDef, statement: str) -> Edit:
        """A statement before the first of a function, and behind its docstring."""
        has_docstring = ast.get_docstring(function, clean=False) is not None
        if has_docstring and len(function.body) == 1:
            end = self.end(function.body[0])
            return Edit(start=end, end=end, text=f"; {statement}")
        return self.before(function.body[int(has_docstring)], statement)

    def before(self, first: ast.stmt, statement: str) -> Edit:
        """A statement before another one, and before what decorates it."""
        start = self.starts[min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))]) - 1]
        indent = self.text[start : self.start(first)].split(b"\n")[-1]
        if indent.strip():
            start = self.start(first)
            return Edit(start=start, end=start, text=f"{statement}; ")
        return Edit(start=start, end=start, text=f"{indent.decode()}{statement}\n")

    def at_end(self, function: ast.FunctionDef | ast.AsyncFunctionDef, statement: str) -> Edit:
        """A statement behind the last of a function, with the indent of that."""
        last = function.body[-1]
        start = self.starts[last.lineno - 1]
        indent = self.text[start : self.start(last)].decode()
        end = self.end(last)
        text = f"; {statement}" if indent.strip() else f"\n{indent}{statement}\n"
        return Edit(start=end, end=end, text=text)


def read_python(source: bytes) -> PythonText | None:
    """The file as Python itself decodes it; None where it cannot be parsed, or is nested too deeply for that."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = io.TextIOWrapper(io.BytesIO(source), encoding).read()
        if encoding not in ("utf-8", "utf-8-sig"):
            head, two, rest = re.split(r"(?<=\n)", text, maxsplit=2) if text.count("\n") > 1 else (text, "", "")
            text = _COOKIE.sub("decoded", head) + _COOKIE.sub("decoded", two) + rest
        tree = ast.parse(text)
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return None
    encoded = text.encode("utf-8", "surrogatepass")
    starts = [0]
    for line in re.split(rb"(?<=\n)", encoded):
        starts.append(starts[-1] + len(line))
    return PythonText(text=encoded, tree=tree, starts=tuple(starts))


def is_python(source: bytes) -> bool:
    """Whether a file that was edited can still be parsed."""
    return read_python(source) is not None
