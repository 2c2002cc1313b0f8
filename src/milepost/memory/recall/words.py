"""The words of a text as they are looked for: identifiers taken apart, what every text has left out."""

from __future__ import annotations

import re

LONGEST_READ = 8_000
MOST_WORDS = 60

_JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_WORD = re.compile(r"[^\W_]{2,}")
_NUMBER = re.compile(r"\d+")

_COMMON = """
    a about after all also an and any are as at be because been before between both but by can could did do does each
    every few for from get gets had has have how i if in into is it its itself just let like make makes may me more most
    must my need needs no not now of off on once one only onto or other our out over own same she should so some still
    such than that the their them then there these they this those through to too two under until up upon us use used
    uses using via was we were what when where whether which while who why will with within without would yet you your
    """
COMMON = frozenset(_COMMON.split())

# What tasks and lessons of any kind say: it tells little of what they are about.
_USUAL = """
    add adds added allow allows build call called calls change changes check checks class code command create creates
    data define ensure error errors example field file files fix fixes function functions give gives given handle
    implement implemented import imports instead item items key line lines list lists method module name names new none
    number object option output parameter pass passes path project python read result results return returns run runs
    set sets show shows simple string support take takes task tasks test tests text type update user users value values
    verified version work works write writes
    """
USUAL = frozenset(_USUAL.split())


def spread(text: str) -> str:
    """A text with its identifiers taken apart: `parseHours`, `parse_hours` and `parse hours` are the same."""
    return _JOINTS.sub(" ", text)


def words_of(*texts: str, most: int = MOST_WORDS) -> tuple[str, ...]:
    """The words of texts that can be looked for, each once, in their order."""
    found: dict[str, None] = {}
    for text in texts:
        for word in _WORD.findall(spread(text[:LONGEST_READ])):
            if word.lower() not in COMMON and not _NUMBER.fullmatch(word):
                found.setdefault(word.lower())
    return tuple(found)[:most]
