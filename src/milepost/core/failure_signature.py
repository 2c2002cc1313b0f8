"""The signature of an error: the same for the same error in other places."""

from __future__ import annotations

import hashlib
import re

LONGEST_NORMAL = 2_000
LONGEST_SHOWN = 120
HASH_DIGITS = 8

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")

_CODE_FILE = (
    r"[\w.+-]{0,100}\w\.(?:pyi?|[cm]?jsx?|[cm]?tsx?|rs|go|java|kt|cc|cpp|cxx|hpp|hh|cs|rb|php|swift|sh|toml|json|ya?ml"
    r"|md|txt|cfg|ini|lock|xml|html|css|sql|log|tmp|so|o)(?![\w.])"
)

# In this order: what stands for a place inside quotes goes with the quotes, a time before its parts look like numbers.
_PLACES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)\]]+", "<url>"),
        (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
        (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b", "<time>"),
        (r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
        (r"(?:(?<!\w)|(?<=\b[bBrRuUfF]))'[^'\n]{0,300}'(?!\w)", "<name>"),
        (r"(?:(?<!\w)|(?<=\b[bBrRuUfF]))\"[^\"\n]{0,300}\"(?!\w)", "<name>"),
        (r"`[^`\n]{1,300}`", "<name>"),
        (r"[‘“][^’”\n]{1,300}[’”]", "<name>"),
        (r"(?i)\b0x[0-9a-f]+\b", "<address>"),
        (r"\b[A-Za-z]:\\[^\s:*?\"<>|,;]+", "<path>"),
        (r"(?<![\w<])(?:~|\.{1,2})?/?(?:[\w.@~+%=-]+/)+[\w.@~+%=-]*(?:::[^\s:,;]+)*", "<path>"),
        (r"(?<![\w<.])/[\w.@~+%=-]+", "<path>"),
        (rf"(?<![\w<.+-]){_CODE_FILE}(?:::[^\s:,;]+)*", "<path>"),
        (r"(?<![\w<.+-])[\w.+-]{0,100}\w\.[chso](?=:\d)", "<path>"),
        (r"(?<=<path>|<name>):\d+(?::\d+)?(?!\d)", ""),
        (r"(?<=<path>|<name>)\(\d+(?:,\s?\d+)?\)", ""),
        (r"(?i)\b(lines?|col|column|char|position|offset)(\s+|:\s*)\d+(?:\s?[-–]\s?\d+)?", r"\1 <n>"),
        (r"\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?|h|hours?)\b", "<duration>"),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", "<hash>"),
        (r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b", "<host>"),
        (r"\b(localhost):\d+\b", "<host>"),
        (r"(?<![\w.])\d{5,}(?![\w.])", "<number>"),
    )
)

_NAMED = frozenset({"<name>", "<path>"})


def signature(text: str) -> str:
    """A short hash of the normal form, and the beginning of the normal form so that a person can read it."""
    normal = normal_form(text)
    digest = hashlib.sha256(normal.encode("utf-8", "backslashreplace")).hexdigest()[:HASH_DIGITS]
    shown = normal if len(normal) <= LONGEST_SHOWN else normal[: LONGEST_SHOWN - 1] + "…"
    return f"{digest} {shown}".rstrip()


def normal_form(text: str, *, keep_names: bool = False) -> str:
    """An error in one line without what differs from place to place: paths, lines, addresses, names, times."""
    text = plain(text[: 4 * LONGEST_NORMAL])
    for pattern, word in _PLACES:
        if not (keep_names and word in _NAMED):
            text = pattern.sub(word, text)
    return " ".join(text.split())[:LONGEST_NORMAL]


def plain(text: str) -> str:
    """A text as a terminal shows it: without colours and other signs that steer one."""
    return _CONTROL.sub("", _ANSI.sub("", text))
