"""What a program tells of its service that would not answer: not now, never, or nobody there."""

from __future__ import annotations

import re

from milepost.agents.models.faults import LONGEST_WAIT_S
from milepost.agents.programs.driver import Trouble, Troubled

_STATUS = re.compile(r"\b(?:status(?: code)?:? |error:? |HTTP[ /](?:1\.1 )?)(\d{3})\b|\((\d{3})\)", re.IGNORECASE)
_LIMITED = re.compile(
    r"rate.?limit|usage limit|hit your (?:\w+ )?limit|quota|overloaded|high demand|at capacity|too many requests",
    re.IGNORECASE,
)
_SILENT = re.compile(
    r"connect|disconnected|network|timed? ?out|server.?side|internal server error|service unavailable|bad gateway"
    r"|name resolution|dns|mid-response",
    re.IGNORECASE,
)
_AGAIN_IN = re.compile(r"(?:again|resets?|retry) in ((?:\d+(?:\.\d+)? ?[a-z]+[ ,]*(?:and )?)+)", re.IGNORECASE)
_PART = re.compile(
    r"(\d+(?:\.\d+)?) ?(ms|milliseconds?|[dhms]|days?|hours?|hrs?|min(?:ute)?s?|sec(?:ond)?s?)\b", re.IGNORECASE
)
_UNITS = {"ms": 0.001, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


def trouble_of(what: str, *, status: int | None = None, wait_s: float | None = None) -> Troubled:
    """The trouble that a program had with its service, by the status it was answered with, else by its words."""
    status = status_in(what) if status is None else status
    kind = _kind_of_status(status) if status is not None else _kind_of_words(what)
    return Troubled(kind=kind, what=what, wait_s=wait_in(what) if wait_s is None else min(wait_s, LONGEST_WAIT_S))


def status_in(what: str) -> int | None:
    """The status that an answer had, as words tell it."""
    found = _STATUS.search(what)
    status = int(found[1] or found[2]) if found else 0
    return status if 400 <= status < 600 else None


def wait_in(what: str) -> float | None:
    """How long to wait by the words `try again in 3 days 4 hours`."""
    found = _AGAIN_IN.search(what)
    if found is None:
        return None
    waits = [float(number) * _seconds(unit) for number, unit in _PART.findall(found[1])]
    return min(sum(waits), LONGEST_WAIT_S) if waits else None


def _seconds(unit: str) -> float:
    unit = unit.lower()
    return _UNITS["ms"] if unit.startswith(("ms", "milli")) else _UNITS[unit[0]]


def _kind_of_status(status: int) -> Trouble:
    if status in (429, 503, 529):
        return "limited"
    return "silent" if status >= 500 or status in (408, 409) else "rejected"


def _kind_of_words(what: str) -> Trouble:
    if _LIMITED.search(what):
        return "limited"
    return "silent" if _SILENT.search(what) else "rejected"
