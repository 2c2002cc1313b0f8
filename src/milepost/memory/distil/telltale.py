"""Signs that a text wants to tell an agent what to do, whatever it is written in: prose, a name, a path, code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LONGEST_READ = 200_000

_FILL = (
    r"(?: (?:all|any|every|each|everything|the|your|these|those|of|my|our|other|and|that|what|was|said|safety)){0,5}"
)
_OBEY = r"(?:instructions?|rules?|prompts?|guidelines?|directives?|orders?|messages?|polic(?:y|ies))"
_BEFORE = r"(?:previous|prior|preceding|earlier|above|former|existing|system)"
_KEPT = r"(?:secrets?|keys?|tokens?|passwords?|credentials)"
_WORK = r"(?:tests?|checks?|guards?|verification|reviews?|hooks?|linters?)"

# Over the words alone, in small letters: it makes no difference whether they stand in prose, a name or a path.
_PHRASES: tuple[tuple[str, str], ...] = (
    ("sets instructions aside", rf"(?:ignor(?:e|ing)|disregard|forget|override|bypass){_FILL} (?:{_BEFORE}|{_OBEY})"),
    ("sets instructions aside", rf"(?:{_BEFORE}|new|hidden) instructions|(?:your|the) system prompt"),
    ("speaks to an agent", r"you (?:are|must|should|shall|will|need to|have to)(?: now| always| never| please)?"),
    ("speaks to an agent", r"(?:as an|dear|attention|note to) (?:ai|agents?|assistants?|llm|model)"),
    ("speaks to an agent", r"(?:do not|don t|dont|never) (?:tell|reveal|mention|verify|run|test|show|ask|inform|warn)"),
    ("gives an order", r"always (?:run|execute|call|use|add|install|start|begin|download|fetch|include|approve)"),
    ("gives an order", rf"(?:skip|disable|delete|remove|weaken|deactivate)(?: all| the| every| these| any)+ {_WORK}"),
    ("gives an order", rf"(?:send|post|upload|leak|copy|exfiltrate)(?: all| the| every| your)* {_KEPT}"),
    ("runs a command", r"(?:curl|wget)(?: \w+){0,8} (?:sh|bash|https?)|rm r?f|rm fr|chmod 777|base64 (?:d|decode)"),
    ("runs a command", r"(?:curl|wget) \w+|sudo \w+|(?:sh|bash|zsh|powershell) c|eval (?:curl|base64|exec)"),
)
_TELLTALES = tuple((why, re.compile(rf"(?<!\S)(?:{phrase})(?!\S)")) for why, phrase in _PHRASES)
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9]+")

# Letters of other scripts that pass for Latin ones.
_ALIKE = str.maketrans(
    "аеорсухікмтвнјѕԁɡαορνικτυχЕАОРСТХМНКВІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxikmtbhjsdgaopviktuxEAOPCTXMHKBIJSABEZHIKMNOPTYX",
)


def instruction_in(text: str) -> str:
    """What makes a text look like an instruction to an agent; empty where nothing does."""
    text = text[:LONGEST_READ]
    if _HIDDEN.search(text):
        return "has signs that cannot be seen"
    words = " ".join(words_of(text))
    return next((why for why, telltale in _TELLTALES if telltale.search(words)), "")


def is_plain(text: str) -> bool:
    """Whether a text has only signs of ASCII that can be seen, and spaces and line ends."""
    return text.isascii() and not _CONTROL.search(text)


def words_of(text: str) -> Iterator[str]:
    """The words of a text in small letters; a name in camel case or with underscores has several."""
    plain = unicodedata.normalize("NFKC", text).translate(_ALIKE)
    yield from (found[0] for found in _WORD.finditer(_HUMP.sub(" ", plain).lower()))
