"""The edits that take back a slip of writing, from text to text; whether one helps is decided elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*[\w+.#-]*[ \t]*")
_CONFLICT = re.compile(
    r"^<{7}(?: [^\n]*)?\n(?P<ours>(?:(?!<{7}|={7}$|\|{7})[^\n]*\n)*?)"
    r"(?:\|{7}(?: [^\n]*)?\n(?P<base>(?:(?!<{7}|={7}$)[^\n]*\n)*?))?"
    r"={7}\n(?P<theirs>(?:(?!>{7}|<{7})[^\n]*\n)*?)>{7}(?: [^\n]*)?(?:\n|\Z)",
    re.MULTILINE,
)
_MARKER = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
_PLAIN = {
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000", " "),
    **dict.fromkeys("\ufeff\u200b\u200c\u200d\u2060", ""),
    **dict.fromkeys("\u2212\u2013", "-"),
}
_ODD = str.maketrans(_PLAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxEdit:
    """One way to take back a slip that spans the file; `of` gives None where there is no such slip."""

    what: str
    of: Callable[[str], str | None]


def without_fence(text: str) -> str | None:
    """The text inside a Markdown fence that goes around the whole of it, closed or not."""
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if not filled:
        return None
    first, last = filled[0], filled[-1]
    opening, closing = _fence_at(lines[first]), _fence_at(lines[last]) if last > first else ""
    if not opening and not closing:
        return None
    kept = lines[first + 1 if opening else first : last if closing else last + 1]
    return "\n".join(kept).rstrip("\n") + "\n"


def with_line_ends(text: str) -> str | None:
    r"""The text with its literal `\n` made line ends: as a JSON string when it is one without its quotes."""
    if "\\n" not in text or len([line for line in text.split("\n") if line.strip()]) > 3:
        return None
    body = text.strip("\r\n")
    if len(body) > 1 and body[0] == body[-1] == '"':
        body = body[1:-1]
    try:
        whole = json.loads(f'"{body}"', strict=False)
    except ValueError:
        whole = body.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    return str(whole).rstrip("\n") + "\n"


def without_conflicts(text: str) -> str | None:
    """The text with every conflict decided that decides itself; None when one does not, or there is none."""
    ending = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n")
    undecided = False

    def side(match: re.Match[str]) -> str:
        nonlocal undecided
        decided = _decided(match["ours"], match["theirs"], match["base"])
        undecided = undecided or decided is None
        return decided or ""

    after, count = _CONFLICT.subn(side, plain)
    if not count or undecided or _MARKER.search(after):
        return None
    return after.replace("\n", ending)


def has_conflict(text: str) -> bool:
    return _CONFLICT.search(text.replace("\r\n", "\n")) is not None


def without_invisible(text: str) -> str | None:
    """The text without the marks that are seen by nobody and allowed only at the very start."""
    after = text[:1] + re.sub("[\ufeff\u200b\u2060]", "", text[1:])
    return after if after != text else None


def without_tabs(text: str, width: int) -> str:
    """The text with the tabs that indent made spaces; those of texts in triple quotes stay."""
    lines, quote = [], ""
    for line in text.split("\n"):
        body = line.lstrip(" \t")
        indent = line[: len(line) - len(body)]
        lines.append(line if quote else indent.expandtabs(width) + body)
        quote = _open_quote(body, quote)
    return "\n".join(lines)


def with_plain_line(text: str, number: int) -> str | None:
    """The text with the odd characters of one line made plain; None when it has none. Lines count from 1."""
    lines = text.split("\n")
    if not 1 <= number <= len(lines):
        return None
    plain = lines[number - 1].translate(_ODD)
    if plain == lines[number - 1]:
        return None
    lines[number - 1] = plain
    return "\n".join(lines)


def _fence_at(line: str) -> str:
    match = _FENCE.fullmatch(line.strip())
    return match[1] if match else ""


def _decided(ours: str, theirs: str, base: str | None) -> str | None:
    """The side that nobody would argue about: both are alike, or only one differs from what was before."""
    if ours.split() == theirs.split():
        return ours
    if base is not None:
        return theirs if ours == base else ours if theirs == base else None
    return None


def _open_quote(line: str, quote: str) -> str:
    """Which triple quotes are open after a line; comments and short strings are looked over, not parsed."""
    for found in re.findall(r'"""|\'\'\'', line):
        if not quote:
            quote = found
        elif quote == found:
            quote = ""
    return quote


WHOLE = (
    SyntaxEdit(what="a Markdown fence", of=without_fence),
    SyntaxEdit(what="literal line ends", of=with_line_ends),
    SyntaxEdit(what="conflict markers", of=without_conflicts),
    SyntaxEdit(what="invisible characters", of=without_invisible),
)
