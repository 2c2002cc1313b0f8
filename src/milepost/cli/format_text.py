"""How facts are put for people: durations, money, counts, and text that is safe on a terminal."""

from __future__ import annotations

import math
import os
import sys
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path

# By how a task stands: its verdict, accepted by its owner, aside because a person did not want it, None: it waits.
MARKS = {"passed": "✓", "accepted": "✓", "held": "?", "unverified": "?", "failed": "✗", "aside": "–", None: "–"}
PLAIN_MARKS = {"passed": "+", "accepted": "+", "held": "?", "unverified": "?", "failed": "x", "aside": "-", None: "-"}
COLOURS = {
    "passed": "green",
    "accepted": "cyan",
    "held": "yellow",
    "unverified": "yellow",
    "failed": "red",
    "aside": "dim",
    None: "dim",
}


def mark(verdict: str | None) -> str:
    """The sign of a verdict, in letters where the terminal has no better ones."""
    try:
        MARKS["passed"].encode(getattr(sys.__stderr__, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return PLAIN_MARKS[verdict]
    return MARKS[verdict]


def duration(ms: int) -> str:
    """`0.2 s`, `41 s`, `1 m 04 s`, `2 h 05 m`."""
    if ms < 9_950:
        return f"{ms / 1000:.1f} s"
    seconds = round(ms / 1000)
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} m {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} m"


def money(usd: float) -> str:
    return f"${usd:.2f}" if usd else ""


def counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def number(amount: float) -> str:
    """`0.4`, `6`, `1140`: never with an exponent."""
    return f"{amount:.0f}" if amount >= 9.95 else f"{amount:.1f}".removesuffix(".0")


def safe(text: str) -> str:
    """Text without control and direction characters, which could change what the terminal shows."""
    if text.isprintable():
        return text
    return "".join(sign for sign in text if unicodedata.category(sign) not in ("Cc", "Cf", "Cs") or sign in "\t")


def safe_lines(text: str) -> str:
    """The same for several lines: their ends stay."""
    return "\n".join(map(safe, text.split("\n")))


def from_here(path: Path) -> str:
    """A path as one would type it in the current folder."""
    return min(os.path.relpath(path), str(path), key=len)


def clipped(text: str, width: int) -> str:
    """Text in at most `width` columns."""
    from rich.cells import cell_len, set_cell_size

    text = safe(text)
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def wrapped(text: str, width: int, *, indent: int) -> list[str]:
    """Text on as many lines as it needs, broken between words."""
    import textwrap

    margin = " " * indent
    return textwrap.wrap(safe(text), max(40, width), initial_indent=margin, subsequent_indent=margin) or [margin]


def hanging(lead: str, text: str, width: int) -> list[str]:
    """Text behind a lead, on as many lines as it needs, the later ones as far in as the first."""
    import textwrap

    margin = " " * len(lead)
    room = max(40, width)
    text = safe(text)
    return textwrap.wrap(text, room, initial_indent=lead, subsequent_indent=margin, break_on_hyphens=False) or [lead]


def facts_lines(lead: str, facts: Sequence[str], width: int) -> list[str]:
    """Facts with ` · ` between them, broken there where one line does not hold them: none is lost."""
    rows: list[str] = []
    for fact in facts:
        longer = f"{rows[-1]} · {fact}" if rows else fact
        if rows and len(lead) + len(longer) <= width:
            rows[-1] = longer
        else:
            rows.append(fact)
    leads = [lead, *(" " * len(lead) for _ in rows[1:])]
    return [line for start, row in zip(leads, rows, strict=False) for line in hanging(start, row, width)]


def columns(text: str) -> int:
    """How many columns a text takes on a terminal."""
    from rich.cells import cell_len

    return cell_len(safe(text))


def padded(text: str, width: int) -> str:
    """Text in exactly `width` columns."""
    from rich.cells import set_cell_size

    return set_cell_size(clipped(text, width), width)


def short_agent(name: str) -> str:
    """The name of an agent for a narrow column: its kind, or which program it is."""
    return name if name.startswith("acp:") else name.partition(":")[0]


def countdown(seconds: float) -> str:
    """The time that is left, in its two largest units: `2 d 3 h`, `3 h 12 min`, `40 s`."""
    left = max(0, math.ceil(seconds))
    sizes = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
    parts = [
        (left % above // size, unit) for (size, unit), above in zip(sizes, (left + 1, 86400, 3600, 60), strict=True)
    ]
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    shown = parts[first : first + 2]
    return " ".join(f"{count} {unit}" for count, unit in shown if count) or "0 s"


def clock_time(moment: float) -> str:
    """A moment as the clock on the wall shows it, with the day where that is not today."""
    at = time.localtime(moment)
    today = time.localtime()[:3] == at[:3]
    return time.strftime("%H:%M" if today else "%a %d %b %H:%M", at)
