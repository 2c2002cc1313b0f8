"""Other values for the literals that a test expects: of the same type, within its limits, and far from it."""

from __future__ import annotations

import re

from milepost.verify.suites.runners.must_fail import word

_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_LITERAL = re.compile(
    r"(?P<string>(?<![\w#])\"[^\"]*\")|(?P<float>(?<![\w.])\d[\d_]*\.\d[\d_]*(?:_?f(?:32|64))?(?![\w.]))"
    r"|(?P<int>(?<![\w.])(?:0|[1-9][\d_]*)(?:_?[iu](?:8|16|32|64|128|size))?(?![\w.]))|(?P<bool>\b(?:true|false)\b)"
)
_AROUND = re.compile(
    r"^(?:\s|[(),&\[\]-]|\bSome\b|\bOk\b|\bErr\b|\bNone\b|\bvec!|\bString::from\b|"
    r"\.(?:to_string|to_owned|into|as_str|to_vec)\(\)|\b(?:u?int(?:8|16|32|64)?|float(?:32|64)|byte|rune|string)\b)*$"
)
_TYPE_LIMIT = 100  # what is below it may be of the smallest type


def other_value(source: str, code: str, start: int, end: int) -> tuple[int, int, str] | None:
    """The edit that makes the expression at this place another value; None where it is more than a value.

    The last literal of a list is replaced: what compares up to the shorter length is found out as well.
    """
    part = code[start:end]
    if not _AROUND.match(_LITERAL.sub(" ", part)):
        return None
    found = list(_LITERAL.finditer(part))
    if not found:
        return None
    last = found[-1]
    text = source[start + last.start() : start + last.end()]
    new = _other(text, last.lastgroup or "")
    return (start + last.start(), start + last.end(), new) if new else None


def other_literals(source: str, code: str, start: int, end: int) -> list[tuple[int, int, str]]:
    """The edits that make all literals at this place others."""
    found = [
        (start + each.start(), start + each.end(), each.lastgroup or "") for each in _LITERAL.finditer(code[start:end])
    ]
    others = [(first, last, _other(source[first:last], kind)) for first, last, kind in found]
    return [edit for edit in others if edit[2]]


def _other(text: str, kind: str) -> str:
    if kind == "string":
        return f'"{word()}{text[1:]}' if _STRING.fullmatch(text) else ""
    if kind == "bool":
        return "false" if text == "true" else "true"
    number = re.match(r"[\d_]+(?:\.[\d_]+)?", text)
    if number is None:
        return ""
    digits, suffix = number[0].replace("_", ""), text[number.end() :]
    suffix = f"_{suffix}" if suffix and digits[-1] != "_" and not suffix.startswith("_") else suffix
    if kind == "float":
        return f"{float(digits) * 1.125 + 18:.6f}{suffix}"
    whole = int(digits)
    return f"{whole + 17 if whole <= _TYPE_LIMIT else whole - max(37, whole // 8)}{suffix}"
