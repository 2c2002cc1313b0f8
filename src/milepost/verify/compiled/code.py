"""The code of a Go or Rust file: comments and the insides of literals blank, every character at its place."""

from __future__ import annotations

import re

_GO = re.compile(r'//[^\n]*|/\*.*?\*/|`[^`]*`|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\[^\n]+?|[^'\\\n])'", re.DOTALL)
_RUST = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bb?r(?P<marks>#*)".*?"(?P=marks)|"(?:\\.|[^"\\])*"|'
    r"'(?:\\x..|\\u\{[^}]*\}|\\.|[^'\\\n])'",
    re.DOTALL,
)
_OPEN, _CLOSE = "([{", ")]}"


def code_of(source: str, *, rust: bool) -> str:
    """The text as long as before; a literal keeps its quotes alone, a comment nothing."""
    return (_RUST if rust else _GO).sub(_blank, source)


def _blank(found: re.Match[str]) -> str:
    text = found[0]
    if text.startswith(("//", "/*")):
        return re.sub(r"[^\n]", " ", text)
    return text[0] + re.sub(r"[^\n]", " ", text[1:-1]) + text[-1]


def closing(code: str, at: int) -> int:
    """Where the bracket at this place is closed, -1 where it is not."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] in _OPEN) - (code[place] in _CLOSE)
        if depth == 0:
            return place
    return -1


def depth(code: str, start: int, at: int) -> int:
    """How many braces are open at a place, counted from another one."""
    return code.count("{", start, at) - code.count("}", start, at)


def arguments(code: str, at: int) -> list[tuple[int, int]]:
    """The places of the arguments in the brackets that open at this place."""
    end = closing(code, at)
    found: list[tuple[int, int]] = []
    depth, start = 0, at + 1
    for place in range(at + 1, end):
        depth += (code[place] in _OPEN) - (code[place] in _CLOSE)
        if code[place] == "," and depth == 0:
            found.append((start, place))
            start = place + 1
    if end > start and code[start:end].strip():
        found.append((start, end))
    return found


def edited(source: str, edits: list[tuple[int, int, str]]) -> str:
    """The text with these places replaced."""
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source
