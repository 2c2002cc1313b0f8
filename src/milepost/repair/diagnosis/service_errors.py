"""What an agent that gave up says about the service behind it: refused, limited, overloaded, unreachable."""

from __future__ import annotations

import re
from datetime import datetime

LINES_READ = 8
LONGEST_WAIT_S = 7 * 24 * 3600.0

_STATUS = re.compile(
    r"""(?ix)
      \b(?:HTTP(?:/\d(?:\.\d)?)?|status(?:[ _]?code)?|api[ ]error|error[ ]code|response)["']?\s*[:=(]?\s*["']?
        (?P<named>[45]\d\d)\b
    | \b(?P<worded>40[0-9]|413|429|5[0-2]\d)[ :-]{1,3}["({]?(?:\{.{0,80})?
        (?:unauthori[sz]ed|forbidden|payment[ ]required|not[ ]found|bad[ ]request|too[ ]many[ ]requests
        |request[ ](?:entity[ ])?too[ ]large|internal[ ]server[ ]error|bad[ ]gateway|service[ ]unavailable
        |gateway[ ]time-?out|overloaded)
    """
)
_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (status, re.compile("|".join(patterns), re.IGNORECASE))
    for status, patterns in (
        (
            "413",
            (
                r"context[_ ]length[_ ]exceeded|maximum context length|prompt is too long|input is too long",
                r"input length.{0,40}exceed|too many (?:input )?tokens|reduce the length of the|exceeds? the context",
            ),
        ),
        (
            "402",
            (
                r"insufficient[_ ](?:quota|funds|credits?|balance)|exceeded your current quota|payment required",
                r"credit balance is too low|billing[_ ](?:hard[_ ]limit|not[_ ]active)",
                r"budget (?:is )?(?:exhausted|exceeded|used up)",
            ),
        ),
        (
            "401",
            (
                r"(?:invalid|incorrect|missing|expired|no)[_ ](?:x-)?api[_ -]?key|authentication[_ ](?:error|failed)",
                r"not (?:logged|signed) in|please (?:run )?/?log ?in|oauth token has expired",
                r"invalid (?:bearer|auth\w*) token",
            ),
        ),
        (
            "429",
            (
                r"rate[_ -]?limit(?:ed|[_ ](?:error|exceeded|reached))",
                r"(?:usage|session|weekly|hourly) limit reached",
            ),
        ),
        ("404", (r"model[_ ]not[_ ]found|the model .{1,80} does not exist|unknown model",)),
        ("529", (r"overloaded_error|(?:server|model|service|api) is (?:currently )?overloaded",)),
        (
            "network",
            (
                r"\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b|could not resolve host|fetch failed",
                r"connection (?:error|refused|reset)|name or service not known|network is unreachable",
                r"temporary failure in name resolution",
            ),
        ),
    )
)

_AFTER = re.compile(
    r"(?i)(?:retry[- ]after|try again (?:in|after)|retry (?:in|after)|resets? in|wait)[\"']?[:=]?\s*[\"']?"
    r"(?P<amount>\d+(?:\.\d+)?\s*(?:ms|s(?:ec\w*)?|m(?:in\w*)?|h(?:ours?)?)?"
    r"(?:\s*\d+(?:\.\d+)?\s*(?:ms|s(?:ec\w*)?|m(?:in\w*)?|h(?:ours?)?))*)(?!\w|\.\d)"
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?", re.IGNORECASE)
_UNITS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
_EPOCH = re.compile(r"(?i)(?:limit reached\||resets?[\"' _:=a-z]{0,12}|until\s+)(1[5-9]\d{8}|2\d{9})\b")
_ISO = re.compile(
    r"(?i)(?:resets?|again|until)\D{0,20}(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))"
)


def service_status(said: str) -> str:
    """The HTTP status that ended the agent, `network` when there was no answer at all, empty when it was neither.

    Only the end of what was said is read: an agent may have talked about status codes all day.
    """
    end = _end(said)
    for status, pattern in _WORDS:
        if pattern.search(end):
            return status
    statuses = [match["named"] or match["worded"] for match in _STATUS.finditer(end)]
    return statuses[-1] if statuses else ""


def stated_wait_s(said: str, now: float) -> float | None:
    """How long the service asks to wait, seen from `now` (seconds since 1970); None when it does not say."""
    end = _end(said)
    if amounts := [match["amount"] for match in _AFTER.finditer(end)]:
        parts = _PART.findall(amounts[-1])
        return _bounded(sum(float(number) * _UNITS[unit.lower()] for number, unit in parts))
    if found := _EPOCH.search(end):
        return _bounded(float(found[1]) - now)
    if found := _ISO.search(end):
        try:
            return _bounded(datetime.fromisoformat(found[1]).timestamp() - now)
        except ValueError:
            return None
    return None


def _end(said: str) -> str:
    return "\n".join([line for line in said.splitlines() if line.strip()][-LINES_READ:])


def _bounded(wait_s: float) -> float:
    return min(max(0.0, wait_s), LONGEST_WAIT_S)
