"""A line of a roadmap as plain text that is safe to print."""

from __future__ import annotations

import re

_TERMINAL = re.compile(
    r"""
      \x1b\[ [0-?]* [ -/]* [@-~]                       # colours and cursor
    | \x1b[\]PX^_] [^\x07\x1b]* (?: \x07 | \x1b\\ )?   # window titles, links
    | [\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]   # turns the direction of text around
    """,
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_BOLD = re.compile(
    r"""
      (?P<code> (?P<ticks>`+) .+? (?P=ticks) )
    | \*\* (?=\S) (?P<stars> (?: `[^`]*` | [^*`] | \*(?!\*) )+? ) (?<=\S) \*\*
    | (?<!\w) __ (?P<lines> [^_`]* [\s\d] [^_`]* ) __ (?!\w)   # never a name such as __init__
    """,
    re.VERBOSE,
)
_DEPENDS = re.compile(
    r"""
      \s* \( (?: depends (?:\ on)? | blocked\ by )\b :? \s* (?P<inside>[^()]*) \) \.? $
    | \s* ` depends:\[ (?P<listed>[^\]`]*) \] ` $
    """,
    re.VERBOSE | re.IGNORECASE,
)


def plain(line: str) -> str:
    """The line without bold, comments and anything that a terminal would obey."""
    line = _without_comments(line)
    line = _BOLD.sub(lambda found: found["code"] or found["stars"] or found["lines"] or "", line)
    # Bold that is closed on a later line leaves its opening here.
    return printable(line.rstrip("\\").strip().removeprefix("**"))


def printable(text: str) -> str:
    """The text in one line, without what moves the cursor or turns the writing direction."""
    return " ".join(_CONTROL.sub(" ", _TERMINAL.sub("", text)).split())


def split_depends(title: str) -> tuple[str, str]:
    """The title without a closing `(depends on …)`, and what that named."""
    found = _DEPENDS.search(title)
    if found is None:
        return title, ""
    return title[: found.start()], (found["inside"] or found["listed"] or "").strip()


def _without_comments(line: str) -> str:
    kept: list[str] = []
    while True:
        before, _, after = line.partition("<!--")
        _, closed, rest = after.partition("-->")
        if not closed:
            return "".join([*kept, line])
        kept.append(before)
        line = rest
