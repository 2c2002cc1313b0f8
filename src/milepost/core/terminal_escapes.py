"""What a terminal obeys and does not print: colours, moves of the cursor, titles, control characters."""

from __future__ import annotations

import re

_SHOWN = bytes(range(0x20, 0x7F)) + b"\t\n"
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# It begins by a set of signs, or every place of a text would be tried in every way.
_ESCAPES = re.compile(
    r"""
    [\x00-\x08\x0b-\x1f\x7f-\x9f] (?:
      (?: (?<=\x1b) \[ | (?<=\x9b) ) [0-?]* [\ -/]* [@-~]?             # colours and cursor
    | (?: (?<=\x1b) [\]PX^_] | (?<=[\x90\x98\x9d-\x9f]) )              # window titles, links, up to their end
      [^\x07\n\x1b\x90\x98\x9c-\x9f]* (?: \x07 | \x1b\\ | \x9c )
    | (?<=\x1b) [\ -/]* [0-~]?
    )?
    """,
    re.VERBOSE,
)


def has_escapes(text: str) -> bool:
    """Whether any of a text is obeyed; the ends of lines and tabs are not counted."""
    if text.isascii():
        return bool(text.encode().translate(None, _SHOWN))
    return _OBEYED.search(text) is not None


def without_escapes(text: str) -> str:
    """What of a text is printed, line by line."""
    return _ESCAPES.sub("", text)
