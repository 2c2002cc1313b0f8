"""The values that a Go test expects: in its conditions, in the calls of a helper that compares, in its table."""

from __future__ import annotations

import re
from collections.abc import Iterator

from milepost.verify.compiled.code import arguments, closing, depth
from milepost.verify.compiled.literals import other_value

_CONDITION = re.compile(r"\bif\b(?P<text>[^{}\n]*)(?=\{)")
_UNEQUAL = re.compile(r"!=\s*(?P<value>[^|;]+?)\s*(?=\|\||$)")
_COMPLAINS = re.compile(r"\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(")
_CALL = re.compile(
    r"\b(?:\w+\.)?(?i:(?:assert|require|check|expect|must)?_?(?:equal\w*|eq|close|same|len|exactly))(?:\[\w+\])?(?=\(\s*t\s*,)"
)
_EXPECTED = r"(?:want|wanted|expected|expect|exp)"
_FIELD = re.compile(rf"\b{_EXPECTED}\s*:(?!=)\s*(?P<value>[^,{{}}\n]+?)\s*(?=[,}}\n])")

_STRUCTS = re.compile(r"\]struct\s*\{(?P<fields>[^{}]*)\}\s*(?=\{)")
_MAP = re.compile(rf"\bfor\s+\w+,\s*{_EXPECTED}\s*:=\s*range\s+map\[[^\]]*\][\w.\[\]*]+(?=\{{)")

Edit = tuple[int, int, str]
Other = tuple[list[Edit], bool]


def expectations(source: str, code: str, start: int, end: int) -> list[Other]:
    """The edits that make the function at this place expect another value, those of its table all at once: a row
    may have a field that is not looked at. And whether they are in one of its own statements."""
    found = [*_conditions(source, code, start, end), *_calls(source, code, start, end)]
    places = {each.span("value") for each in _FIELD.finditer(code, start, end)} | set(_columns(code, start, end))
    table = [edit for place in sorted(places) if (edit := other_value(source, code, *place)) is not None]
    own = [([edit], depth(code, start, edit[0]) == 1) for edit in found]
    return [*own, *([(table, False)] if table else [])]


def _columns(code: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The expected values of rows without field names, and of a map that is gone through."""
    for table in _STRUCTS.finditer(code, start, end):
        names = [name.strip() for line in re.split(r"[;\n]", table["fields"]) for name in _names(line)]
        column = next((at for at, name in enumerate(names) if re.fullmatch(_EXPECTED, name)), None)
        for first, last in arguments(code, table.end()) if column is not None else ():
            row = first + len(code[first:last]) - len(code[first:last].lstrip())
            values = arguments(code, row) if code[row] == "{" else []
            if column is not None and len(values) == len(names) and ":" not in code[row:last]:
                yield values[column]
    for table in _MAP.finditer(code, start, end):
        for first, last in arguments(code, table.end()):
            colon = code.rfind(":", first, last)
            if colon > 0:
                yield colon + 1, last


def _names(line: str) -> list[str]:
    """The names that a line of a struct declares: `a, b int`."""
    found = re.match(r"\s*(\w+(?:\s*,\s*\w+)*)\s+\S", line)
    return found[1].split(",") if found else []


def _conditions(source: str, code: str, start: int, end: int) -> list[Edit]:
    """`if got != 5 { t.Error`; where all of several must hold, one of them says nothing."""
    found: list[Edit] = []
    for condition in _CONDITION.finditer(code, start, end):
        block = code[condition.end() : closing(code, condition.end())]
        if "&&" in condition["text"] or not _COMPLAINS.search(_outermost(block)):
            continue
        for unequal in _UNEQUAL.finditer(code, condition.start("text"), condition.end("text")):
            edit = other_value(source, code, *unequal.span("value"))
            found += [edit] if edit is not None else []
    return found


def _outermost(block: str) -> str:
    """A block without the blocks in it."""
    kept, open_braces = "", 0
    for sign in block:
        open_braces += (sign == "{") - (sign == "}")
        kept += sign if open_braces <= 1 else ""
    return kept


def _calls(source: str, code: str, start: int, end: int) -> list[Edit]:
    """`is.Equal(t, got, 5)`, with the two that are compared in either order."""
    found: list[Edit] = []
    for call in _CALL.finditer(code, start, end):
        compared = [other_value(source, code, *place) for place in arguments(code, call.end())[1:3]]
        edits = [edit for edit in compared if edit is not None]
        if len(compared) == 2 and len(edits) == 1:
            found += edits
    return found
