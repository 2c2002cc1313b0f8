"""The sign in a title that says the status of a task: `✅ Title`, `Title (DONE)`, `TODO: title`, `~~title~~`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from milepost.roadmap.dialects.status_words import ADORNING, EMOJI, WORD, Status, status_of_emoji, status_of_word

Kind = Literal["emoji", "word", "struck"]
Side = Literal["start", "end", "around"]
Shape = tuple[Kind, Side]

_BOLD = r"(?:\*\*|__|\*|_)?"
_EMOJI_FIRST = re.compile(rf"(?P<bold>{_BOLD})(?P<sign>{EMOJI}) *[:\-–—]?(?P<gap>[ \t]+)(?=\S)")
_EMOJI_LAST = re.compile(
    rf"""
    (?P<gap> [ \t]+ (?: [-–—:] [ \t]* )? | (?<=[^\s(]) )
    (?P<sign> {EMOJI} (?: [ \t]* (?: [(\[] {WORD} [)\]] | \*{{0,2}} {WORD} \*{{0,2}} (?!\w) ) )? )
    (?P<rest> (?: [ \t] [^|]{{0,60}} )? )
    (?P<close> [*_]{{0,3}} ) $
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CAPITALS = (
    r"(?:TODO|DONE|FIXME|FIXED|WIP|XXX|PENDING|PLANNED|COMPLETED?|IN[ -]PROGRESS|BLOCKED|SKIPPED|NEXT|OPEN|CLOSED)"
)
_WORD_FIRST = re.compile(
    rf"""
    (?P<bold> {_BOLD} )
    (?:
        (?P<sign> {_CAPITALS} | Todo | Done | Fixme ) (?= {_BOLD} : {_BOLD} (?:\s|$) | {_BOLD} \s [-–—] \s )
      | [(\[] (?P<bracketed> {_CAPITALS} | Todo | Done ) (?= [)\]] (?!\() )
    )
    """,
    re.VERBOSE,
)
_AFTER_WORD = re.compile(r"[*_]{0,2}[)\]]?[*_]{0,2}\s*[:\-–—]?[*_]{0,2}\s*")
_REMARK = r"""
    (?: [,;:]? [ \t]* [-–—]? [ \t]* (?: \d | (?:on|in|by|not|with|since)\b | v\d | [-–—] ) [^()\[\]|]{0,80} )?
"""
_WORD_LAST = re.compile(
    rf"""
    (?:
        (?P<gap> [ \t]+ )
        (?P<sign> [(\[] [ \t]* (?: current [ \t]* [-–—,:] [ \t]* )? (?P<inside> {WORD} ) (?!\w) {_REMARK} [)\]] )
      | (?P<dash> [ \t]+ [-–—] [ \t]+ ) (?P<bare> {WORD} ) (?!\w) {_REMARK}
    )
    (?P<close> [*_.]{{0,3}} ) $
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DATE_OR_NOTE = re.compile(r"\s*[(\[\d]")
# A sign at the end is looked for in so many characters: what comes before is the title.
_TAIL = 200
_STRUCK = re.compile(r"(?P<bold>[*_]{0,2})(?P<sign>~~(?=\S)(?P<inside>[^~]+(?:~[^~]+)*)(?<=\S)~~)(?P<rest>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """What in a title says the status: where it stands, and the title without it.

    `start` and `end` are its columns in the title; for one at the end, they hold what divides it from the title.
    """

    kind: Kind
    side: Side
    status: Status
    start: int
    end: int
    title: str
    written: str
    adorns: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    """How signs are written in one roadmap: what says done and what says open, by kind and side."""

    done: dict[Shape, str]
    undone: dict[Shape, str]
    usual: Shape


def sign_in(text: str, *, emoji: bool = True) -> Sign | None:
    """The sign in a title, if there is one; the start goes before the end, emoji before words."""
    found = (_emoji_first(text) if emoji else None) or _struck(text) or _word_first(text)
    if found is not None:
        return found
    cut = max(0, len(text) - _TAIL)
    return (_emoji_last(text, cut) if emoji else None) or _word_last(text, cut)


def _emoji_first(text: str) -> Sign | None:
    found = _EMOJI_FIRST.match(text)
    if found is None:
        return None
    # `⏰ Update packages (DEFERRED)`: what is said in words is the last word.
    said = _word_last(text, max(found.end(), len(text) - _TAIL))
    skipped = said is not None and said.status == "skipped"
    return Sign(
        kind="emoji",
        side="start",
        status="skipped" if skipped else status_of_emoji(found["sign"]),
        start=found.start("sign"),
        end=found.end(),
        title=(found["bold"] + text[found.end() :]).strip(),
        written=found["sign"],
        adorns=found["sign"].removesuffix("\ufe0f") in ADORNING,
    )


def _struck(text: str) -> Sign | None:
    found = _STRUCK.match(text)
    if found is None:
        return None
    title = f"{found['bold']}{found['inside']}{found['rest']}"
    start, end = found.span("sign")
    return Sign(kind="struck", side="around", status="done", start=start, end=end, title=title, written=found["sign"])


def _emoji_last(text: str, cut: int) -> Sign | None:
    found = _EMOJI_LAST.search(text, cut)
    title = text[: found.start("gap")].strip() if found else ""
    if found is None or not title:
        return None
    if found["rest"].strip() and not found["gap"].strip() and not _DATE_OR_NOTE.match(found["rest"]):
        return None
    word = re.search(WORD, found["sign"], re.IGNORECASE)
    sign = re.match(EMOJI, found["sign"])
    assert sign is not None
    return Sign(
        kind="emoji",
        side="end",
        status=status_of_word(word[0]) if word else status_of_emoji(sign[0]),
        start=found.start("gap"),
        end=found.start("close"),
        title=title + found["close"],
        written=f"{found['gap']}{found['sign']}",
        adorns=sign[0].removesuffix("\ufe0f") in ADORNING,
    )


def _word_first(text: str) -> Sign | None:
    found = _WORD_FIRST.match(text)
    if found is None:
        return None
    group = "sign" if found["sign"] else "bracketed"
    start, end = found.span(group)
    after = _AFTER_WORD.match(text, end)
    assert after is not None
    word = found[group].lower().replace("-", " ")
    status: Status = "open" if word in ("fixme", "xxx") else status_of_word(word)
    title = text[after.end() :].strip()
    # What was opened in bold before the word is closed after the title.
    title = title.removesuffix(found["bold"]) if found["bold"] and title.count(found["bold"]) % 2 else title
    if not title:
        return None
    return Sign(kind="word", side="start", status=status, start=start, end=end, title=title, written=found[group])


def _word_last(text: str, cut: int) -> Sign | None:
    found = _WORD_LAST.search(text, cut)
    if found is None:
        return None
    lead = "gap" if found["sign"] else "dash"
    word = found["inside"] or found["bare"]
    title = text[: found.start(lead)].strip()
    # `a - done` in a sentence is no sign, `a - Done` and `a - DONE` are.
    if not title or (found["bare"] and word[0].islower()):
        return None
    written = f"{found[lead]}{found['sign'] or found['bare']}"
    if found["sign"] and len(found["sign"]) > len(word) + 2:
        written = f"{found[lead]}{found['sign'][0]}{word}{found['sign'][-1]}"
    return Sign(
        kind="word",
        side="end",
        status=status_of_word(word),
        start=found.start(lead),
        end=found.start("close"),
        title=title + found["close"].rstrip("."),
        written=written,
    )


def custom_of(signs: Sequence[Sign]) -> Custom:
    """How a roadmap writes its signs: as it does most often, else as is usual elsewhere."""
    shapes = Counter((sign.kind, sign.side) for sign in signs)
    done: dict[Shape, str] = {
        ("emoji", "start"): "✅",
        ("emoji", "end"): " ✅",
        ("word", "start"): "DONE",
        ("word", "end"): " (DONE)",
    }
    undone: dict[Shape, str] = {("word", "start"): "TODO"}
    for shape in shapes:
        of_shape = [sign for sign in signs if (sign.kind, sign.side) == shape]
        if used := _most_used(of_shape, "done"):
            done[shape] = used
        if used := _most_used(of_shape, "open"):
            undone[shape] = used
    return Custom(done=done, undone=undone, usual=shapes.most_common(1)[0][0] if shapes else ("emoji", "start"))


def _most_used(signs: Sequence[Sign], status: Status) -> str:
    used = Counter(sign.written for sign in signs if sign.status == status and not sign.adorns)
    used = used or Counter(sign.written for sign in signs if sign.status == status)
    return used.most_common(1)[0][0] if used else ""
