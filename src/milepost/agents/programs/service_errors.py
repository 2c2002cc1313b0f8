"""What a program tells of its service that would not answer: not now, never, or nobody there."""

from __future__ import annotations

import re
import time

from milepost.agents.programs.driver import Trouble, Troubled
from milepost.core.stated_time import LONGEST_WAIT_S, stated_wait_s

_STATUS = re.compile(r"\b(?:status(?: code)?:? |error:? |HTTP[ /](?:1\.1 )?)(\d{3})\b|\((\d{3})\)", re.IGNORECASE)
_LIMITED = re.compile(
    r"rate.?limit|usage limit|(?:hour|weekly|session|opus) limit|hit your (?:\w+ )?limit|quota"
    r"|exhausted your capacity|overloaded|high demand|at capacity|too many requests",
    re.IGNORECASE,
)
_SILENT = re.compile(
    r"connect|disconnected|network|timed? ?out|server.?side|internal server error|service unavailable|bad gateway"
    r"|name resolution|dns|mid-response",
    re.IGNORECASE,
)


def trouble_of(what: str, *, status: int | None = None, wait_s: float | None = None) -> Troubled:
    """The trouble that a program had with its service, by the status it was answered with, else by its words."""
    status = status_in(what) if status is None else status
    kind = _kind_of_status(status) if status is not None else _kind_of_words(what)
    return Troubled(kind=kind, what=what, wait_s=_wait(what, wait_s))


def status_in(what: str) -> int | None:
    """The status that an answer had, as words tell it."""
    found = _STATUS.search(what)
    status = int(found[1] or found[2]) if found else 0
    return status if 400 <= status < 600 else None


def _wait(what: str, told_s: float | None) -> float | None:
    """How long to wait by its words, which know more than how soon the program itself would ask again."""
    stated = stated_wait_s(what, time.time())
    return stated if stated is not None or told_s is None else min(told_s, LONGEST_WAIT_S)


def _kind_of_status(status: int) -> Trouble:
    if status in (429, 503, 529):
        return "limited"
    return "silent" if status >= 500 or status in (408, 409) else "rejected"


def _kind_of_words(what: str) -> Trouble:
    if _LIMITED.search(what):
        return "limited"
    return "silent" if _SILENT.search(what) else "rejected"
