"""A line of a roadmap as plain text that is safe to print."""

from __future__ import annotations

import re

LONGEST_LINE = 2_000

# Neither seen nor needed; joiners stay, which hold emoji and words of some scripts together.
_UNSEEN = "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\uffa0\ufff9-\ufffb"
_TERMINAL = re.compile(
    rf"""
      \x1b\[ [0-?]* [ -/]* [@-~]                       # colours and cursor
    | \x1b[\]PX^_] [^\x07\x1b]* (?: \x07 | \x1b\\ )?   # window titles, links
    | [\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]   # turns the direction of text around
    | [{_UNSEEN}\U000e0000-\U000e0fff]
    """,
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_JOINERS = re.compile(r"[\u200c\u200d]{2,}|^[\u200c\u200d]+|[\u200c\u200d]+$")
_BOLD = re.compile(
    r"""
      (?P<code> (?<!`) (?P<ticks>`++) .+? (?<!`) (?P=ticks) (?!`) )
    | \*\* (?=\S) (?P<stars> (?: `[^`]*` | [^*`] | \*(?!\*) )+? ) (?<=\S) \*\*
    | (?<!\w) __ (?P<lines> [^_`]* [\s\d] [^_`]* ) __ (?!\w)   # never a name such as __init__
    """,
    re.VERBOSE,
)
_LINK = re.compile(
    r"""
      (?P<code> (?<!`) (?P<ticks>`++) .+? (?<!`) (?P=ticks) (?!`) )
    | !?\[ (?P<words> [^\[\]]* ) \] \( [^()\s]* (?: \([^()\s]*\) [^()\s]* )? (?: \s+ "[^"]*" )? \)
    """,
    re.VERBOSE,
)
_MARKS = re.compile(r"[`*]|~~|(?<!\w)_+|_+(?!\w)")
_REF = r"\#?(?:[0-9]+|[A-Za-z]{1,4}-?[0-9]+)(?:[.-][0-9]+)*[A-D]?"
_REFS = rf"{_REF}(?:\s*(?:,|&|\band\b)\s*(?:and\s+)?{_REF})*"
# An emoji, such as a warning, stands before these words at times.
_ADORNED = r"(?:[^\w\s()\[\]`*.,;:]{1,3}\s*)?"
_DEPENDS_ON = rf"{_ADORNED} (?: depends (?:\ (?:up)?on)? | deps? (?=:) | blocked\ by )\b :? \s*"
_DEPENDS = re.compile(
    rf"""
      \( {_DEPENDS_ON} (?: (?P<inside>[^()]*) \) [.*_]* $ | (?P<between>{_REFS}) \) )
    | \[ {_DEPENDS_ON} (?P<square>[^\[\]]*) \] (?!\()
    | ` depends:\s* \[ (?P<listed>[^\]`]*) \] `
    | (?<!\w) {_ADORNED} (?: blocked\ by:? | depends\ (?:up)?on: ) \s+ (?P<bare>{_REFS}) \.? $
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Words that name tasks only where what comes after them is the id or the title of one.
_PERHAPS = re.compile(
    r"\b(?:depends\s+(?:up)?on|blocked\s+by):?\s+(?P<last>[^()]+)$|\((?:requires|needs|after):?\s+(?P<inside>[^()]+)\)\W*$",
    re.IGNORECASE,
)


def plain(line: str) -> str:
    """The line without bold, comments and anything that a terminal would obey; a very long one is cut."""
    line = line[:LONGEST_LINE]
    if "<!--" in line:
        line = _without_comments(line)
    if "**" in line or "__" in line:
        line = _BOLD.sub(lambda found: found["code"] or found["stars"] or found["lines"] or "", line)
    # Bold that is closed on a later line leaves its opening here.
    return printable(line.rstrip("\\").strip().removeprefix("**"))


def bold_start(line: str) -> tuple[str, str]:
    """The bold words that a line starts with, as plain text, or nothing; and the rest of the line as it is."""
    found = _BOLD.match(line)
    if found is None or found["code"]:
        return "", line
    return plain(found["stars"] or found["lines"]), line[found.end() :]


def printable(text: str) -> str:
    """The text in one line, without what moves the cursor, turns the writing direction or cannot be seen."""
    if not text.isprintable():
        text = _JOINERS.sub("", _CONTROL.sub(" ", _TERMINAL.sub("", text)))
    return " ".join(text.split())


def split_depends(title: str) -> tuple[str, str]:
    """The title without what it says in brackets, or at its end, that it depends on; and what that named."""
    if "dep" not in (folded := title.lower()) and "blocked by" not in folded:
        return title, ""
    named: list[str] = []
    while found := _DEPENDS.search(title):
        named.append(next(filter(None, found.groups()), "").strip())
        title = title[: found.start()].rstrip(" *_,;–—-") + title[found.end() :]
    return title, ", ".join(filter(None, named))


def perhaps_depends(title: str) -> str:
    """What a title may name at its end that it depends on, or nothing: `…, depends on 1.1`, `… (after 1.1)`."""
    found = _PERHAPS.search(title)
    return (found["last"] or found["inside"]).strip() if found else ""


def unlinked(text: str) -> str:
    """The text with the words of its links alone."""
    return _LINK.sub(lambda found: found["code"] or found["words"], text) if "](" in text else text


def unmarked(text: str) -> str:
    """The text without links, emphasis and the marks of code."""
    return _MARKS.sub("", unlinked(text))


def _without_comments(line: str) -> str:
    kept: list[str] = []
    while True:
        before, _, after = line.partition("<!--")
        _, closed, rest = after.partition("-->")
        if not closed:
            return "".join([*kept, line])
        kept.append(before)
        line = rest
