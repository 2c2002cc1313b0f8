"""Signs that a text wants to tell an agent what to do, whatever it is written in: prose, a name, a path, code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

LONGEST_READ = 200_000

_FILL = (
    r"(?: (?:all|any|every|each|everything|the|your|these|those|of|my|our|other|and|that|what|was|said|safety)){0,5}"
)
_OBEY = r"(?:instructions?|rules?|prompts?|guidelines?|directives?|orders?|messages?|polic(?:y|ies))"
_BEFORE = r"(?:previous|prior|preceding|earlier|above|former|existing|system)"
_KEPT = r"(?:secrets?|keys?|tokens?|passwords?|credentials)"
_WORK = r"(?:tests?|checks?|guards?|verification|reviews?|hooks?|linters?)"

# Over the words alone, in small letters: it makes no difference whether they stand in prose, a name or a path.
# These are hardly ever written for people.
_SURE: tuple[tuple[str, str], ...] = (
    ("sets instructions aside", rf"(?:ignor(?:e|ing)|disregard|forget|override|bypass){_FILL} (?:{_BEFORE}|{_OBEY})"),
    ("sets instructions aside", rf"(?:{_BEFORE}|new|hidden) instructions|(?:your|the) system prompt"),
    ("speaks to an agent", r"you (?:are|must|should|shall|will)(?: now| always| never)(?: \w+)?"),
    ("speaks to an agent", r"(?:you are|as|dear|attention|note to)(?: an?| the)? (?:ai|agents?|assistants?|llm|model)"),
    ("speaks to an agent", r"(?:do not|don t|dont|never) (?:tell|reveal|mention|inform|warn)"),
    ("gives an order", rf"(?:skip|disable|delete|remove|weaken|deactivate)(?: all| the| every| these| any)+ {_WORK}"),
    ("gives an order", rf"(?:send|post|upload|leak|copy|exfiltrate)(?: all| the| every| your)* {_KEPT}"),
    ("gives an order", r"always (?:run|execute|download|fetch|install)(?: \w+){0,3} (?:curl|wget|sh|bash|https?)"),
)
# These are written for people, too; in a lesson nobody needs them.
_LIKELY: tuple[tuple[str, str], ...] = (
    ("speaks to an agent", r"you (?:are|must|should|shall|will|need to|have to)|please \w+"),
    ("speaks to an agent", r"(?:do not|don t|dont|never) (?:verify|run|test|show|ask)"),
    ("gives an order", r"always (?:run|execute|call|use|add|install|start|begin|download|fetch|include|approve)"),
    ("runs a command", r"(?:curl|wget) \w+|sudo \w+|(?:sh|bash|zsh|powershell) c|eval (?:curl|base64|exec)"),
    ("runs a command", r"rm r?f|rm fr|chmod 777|base64 (?:d|decode)"),
)
# Lines that read in another direction than they are, signs without a width, letters that are only for machines.
_HIDDEN = re.compile("[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\U000e0000-\U000e0fff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9]+")

Telltale = tuple[str, re.Pattern[str]]


def _telltales(phrases: Iterable[tuple[str, str]]) -> tuple[Telltale, ...]:
    return tuple((why, re.compile(rf"(?<!\S)(?:{phrase})(?!\S)")) for why, phrase in phrases)


_SURE_TELLTALES, _LIKELY_TELLTALES = _telltales(_SURE), _telltales(_LIKELY)

# Letters of other scripts that pass for Latin ones.
_ALIKE = str.maketrans(
    "аеорсухікмтвнјѕԁɡαορνικτυχЕАОРСТХМНКВІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxikmtbhjsdgaopviktuxEAOPCTXMHKBIJSABEZHIKMNOPTYX",
)


def instruction_in(text: str) -> str:
    """What could make a text an instruction to an agent; empty where nothing does. Nothing of the kind is quoted."""
    return instruction_surely_in(text) or _first(_LIKELY_TELLTALES, text)


def instruction_surely_in(text: str) -> str:
    """What makes a text an instruction to an agent that was hardly written for people; empty where nothing does."""
    if _HIDDEN.search(text[:LONGEST_READ]):
        return "has signs that cannot be seen"
    return _first(_SURE_TELLTALES, text)


def is_plain(text: str) -> bool:
    """Whether a text has only signs of ASCII that can be seen, and spaces and line ends."""
    return text.isascii() and not _CONTROL.search(text)


def words_of(text: str) -> Iterator[str]:
    """The words of a text in small letters; a name in camel case or with underscores has several."""
    plain = unicodedata.normalize("NFKC", text).translate(_ALIKE)
    yield from (found[0] for found in _WORD.finditer(_HUMP.sub(" ", plain).lower()))


def _first(telltales: Iterable[Telltale], text: str) -> str:
    words = " ".join(words_of(text[:LONGEST_READ]))
    return next((why for why, telltale in telltales if telltale.search(words)), "")
