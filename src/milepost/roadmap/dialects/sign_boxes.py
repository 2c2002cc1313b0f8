"""The sign in a title as the bytes that a tick changes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from milepost.roadmap.dialects.signs import Custom, Sign, sign_in
from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.source import RoadmapSource
from milepost.roadmap.reading.titles import plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """The line of a title, where it begins in its line, and the sign in it; `column` is -1 where it is not found."""

    line: int
    column: int
    text: str
    sign: Sign | None


def box_of(title: Title, source: RoadmapSource, custom: Custom, *, bare: bool, emoji: bool = True) -> Box | None:
    """The bytes that say the status of a title; None where a change of them would not be read as meant.

    `bare` says that a title without a sign would be a task, too; `emoji` that emoji are signs.
    """
    if title.column < 0 or is_skipped(title.sign):
        return None
    parts = _parts(title, custom, bare=bare)
    changed = _changed(title, parts, emoji=emoji)
    if is_over(title.sign):
        if changed is None:  # without its sign another one would be read: `✅ Fix login 🔴`
            parts = _parts(title, replace(custom, undone={}), bare=False)
            changed = _changed(title, parts, emoji=emoji)
    elif changed is not None and box_of(changed, source, custom, bare=bare, emoji=emoji) is None:
        return None  # an undo could not open it again
    if changed is None:
        return None
    before, written, done, undone = parts
    return Box(
        offset=source.offset(title.line, title.column + before),
        written=written.encode(),
        ticked=is_over(title.sign),
        done=done.encode(),
        undone=undone.encode(),
    )


def _changed(title: Title, parts: tuple[int, str, str, str], *, emoji: bool) -> Title | None:
    """The title once it says the opposite; None where that would not be read as meant."""
    before, written, done, undone = parts
    text = title.text[:before] + (undone if is_over(title.sign) else done) + title.text[before + len(written) :]
    sign = sign_in(text, emoji=emoji)
    if is_over(sign) == is_over(title.sign) or _name(sign, text) != _name(title.sign, title.text):
        return None
    return replace(title, text=text, sign=sign)


def _name(sign: Sign | None, text: str) -> str:
    return plain(sign.title if sign is not None else text)


def is_over(sign: Sign | None) -> bool:
    """Whether nothing is left to do."""
    return sign is not None and sign.status != "open"


def is_skipped(sign: Sign | None) -> bool:
    """Whether nothing is left to do because nobody wants it done."""
    return sign is not None and sign.status == "skipped"


def _parts(title: Title, custom: Custom, *, bare: bool) -> tuple[int, str, str, str]:
    """Where in its title a box begins, what it is now, what says done and what says open."""
    sign, text = title.sign, title.text
    if sign is None:
        return _insertion(text, custom)
    if sign.side == "around":
        return sign.start, sign.written, sign.written, sign.written[2:-2]
    shape = (sign.kind, sign.side)
    done = _in_case_of(sign, custom.done[shape])
    undone = _in_case_of(sign, custom.undone.get(shape, "" if bare else "⏳" if sign.side == "start" else " ⏳"))
    if sign.status == "open":
        undone = sign.written
    if sign.side == "end" or (sign.kind == "emoji" and not undone):
        written = text[sign.start : sign.end]
        return sign.start, written, done, written if sign.status == "open" else undone
    return sign.start, sign.written, done, undone


def _insertion(text: str, custom: Custom) -> tuple[int, str, str, str]:
    """How a title without a sign gets one, in the way that is usual where it stands."""
    kind, side = custom.usual
    if side == "around":
        return 0, text, f"~~{text}~~" if "~" not in text else text, text
    if side == "end":
        return len(text), "", custom.done[kind, side], ""
    return 0, "", f"{custom.done[kind, side]}{':' if kind == 'word' else ''} ", ""


def _in_case_of(sign: Sign, word: str) -> str:
    """A word in capitals where its sign is, and with a capital where that is."""
    if sign.kind != "word" or sign.side != "start":
        return word
    return word.upper() if sign.written.isupper() else word.capitalize()
