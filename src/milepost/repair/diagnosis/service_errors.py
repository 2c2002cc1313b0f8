"""What an agent that gave up says about the service behind it: refused, limited, overloaded, unreachable."""

from __future__ import annotations

import re
from datetime import tzinfo

from milepost.core import stated_time

LINES_READ = 8

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
                r"(?:usage|session|weekly|hourly|hour|opus) limit reached|you've hit your (?:\w+ )?limit",
                r"exhausted your (?:capacity|(?:daily )?quota)|quota will reset (?:after|in|at)",
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


def stated_wait_s(said: str, now: float, zone: tzinfo | None = None) -> float | None:
    """How long the service asks to wait, seen from `now` (seconds since 1970); None when it does not say."""
    return stated_time.stated_wait_s(_end(said), now, zone)


def _end(said: str) -> str:
    return "\n".join([line for line in said.splitlines() if line.strip()][-LINES_READ:])
