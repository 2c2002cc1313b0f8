"""How a report puts facts: durations, money, counts, moments, and text in which nothing is hidden."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

from milepost.core.verdict import Question


def duration(seconds: float) -> str:
    """`0.2 s`, `41 s`, `1 m 04 s`, `2 h 05 m`, `3 d 04 h`."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02d} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} m"
    return f"{whole // 86_400} d {whole % 86_400 // 3600:02d} h"


def money(usd: float) -> str:
    """`$0.00`, `$1.25`; a fraction of a cent is not nothing."""
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:,.2f}"


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def moment(at: float) -> str:
    """A time that means the same wherever the report is read."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def place_of(question: Question) -> str:
    """`tests/test_price.py:7`, where that is known."""
    return f"{question.path}:{question.line}" if question.line else question.path


def visible(text: str) -> str:
    """Text with control, direction and other unseen characters written out: they could belie what is shown."""
    if text.isprintable():
        return text
    return "".join(sign if sign in "\n\t" or sign.isprintable() else _seen(sign) for sign in text)


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"


def _seen(sign: str) -> str:
    if unicodedata.category(sign) == "Zs":
        return sign  # a space of another width hides nothing
    number = ord(sign)
    if number < 0x20:
        return chr(0x2400 + number)
    return "␡" if number == 0x7F else f"⟨U+{number:04X}⟩"
