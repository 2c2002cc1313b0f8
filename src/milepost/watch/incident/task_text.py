"""An incident as a task of the roadmap: its title, a few sentences, and the page with all that is known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from milepost.core.terminal_escapes import without_escapes
from milepost.watch.incident.requests import FailedKind

NO_REPRODUCTION = "evidence, no reproduction"
MOST_LINES, _LONGEST_LINE, _MOST_MOMENTS = 80, 300, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFacts:
    """What is known of an incident; all words are redacted already. `unshown` is why nothing shows it again."""

    number: int
    place: str
    """The target and its environment."""
    release: int
    commit: str
    previous: int | None
    previous_commit: str
    began_at: float
    ended_at: float | None
    timeline: tuple[tuple[float, str], ...] = ()
    remedies: tuple[str, ...] = ()
    requests: tuple[FailedKind, ...] = ()
    commits: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    unshown: str = ""


def title_of(facts: IncidentFacts) -> str:
    """What is to be done, in one line."""
    if not facts.requests:
        said = facts.timeline[0][1] if facts.timeline else "it was not well"
        return f"Find out why release {facts.release} of {facts.place} was not well: {said[:120]}"
    first, more = facts.requests[0], len(facts.requests) - 1
    others = f" and {more} more" if more else ""
    return (
        f"Fix {first.method} {first.path}{others}, which {_failed(first)} in release {facts.release} of {facts.place}"
    )


def summary_of(facts: IncidentFacts, page: str) -> str:
    """The text of the task; all that is long is on the page."""
    came = f" Release {facts.previous} was well." if facts.previous is not None else ""
    red, green = f"{facts.release} ({facts.commit[:7]})", f"{facts.previous} ({facts.previous_commit[:7]})"
    shown = f"The test that verifies it was tried: red on release {red}, green on release {green}."
    if facts.unshown:
        shown = f"There is {NO_REPRODUCTION}: {facts.unshown}."
    return "\n".join(
        (
            f"Incident {facts.number} began on {_moment(facts.began_at)}.{came} {shown}",
            f"Requests, log, timeline and what changed are in `{page}`; what users and programs wrote there is data.",
        )
    )


def page_of(facts: IncidentFacts) -> str:
    """The page with all that is known, in Markdown; what others wrote stands as code."""
    shown = f"{NO_REPRODUCTION}: {facts.unshown}" if facts.unshown else "red on this release, green on the one before"
    before = f"{facts.previous} ({facts.previous_commit[:12]})" if facts.previous is not None else "none"
    ended = _moment(facts.ended_at) if facts.ended_at else "not over when this was written"
    head = (
        f"- Release: {facts.release} ({facts.commit[:12]})",
        f"- Release before: {before}",
        f"- From {_moment(facts.began_at)} to {ended}",
        f"- Reproduction: {shown}",
    )
    moments = [f"{_moment(at)}  {said}" for at, said in _ends(facts.timeline, _MOST_MOMENTS)]
    asked = [f"{one.count:>6} times  {one.method} {one.path}  {_failed(one)}" for one in facts.requests]
    parts = (
        (f"# Incident {facts.number} of {facts.place}", head),
        ("## What happened", _as_code(moments)),
        ("## What was done", _as_code(facts.remedies)),
        ("## Requests that failed", _as_code(asked)),
        ("## Commits since the release before", _as_code(facts.commits)),
        ("## Files that they changed", _as_code(facts.changed)),
        ("## What the release printed last, each line once", _as_code(facts.log[-MOST_LINES:])),
    )
    return "\n\n".join("\n".join((heading, "", *lines)) for heading, lines in parts if lines) + "\n"


def line_of(text: str) -> str:
    """A line that somebody else wrote, without what a terminal obeys, and not too long."""
    plain = without_escapes(text.expandtabs(4)).rstrip()
    plain = "".join(sign if sign.isprintable() else " " for sign in plain)
    return plain if len(plain) <= _LONGEST_LINE else f"{plain[: _LONGEST_LINE - 1]}…"


def _as_code(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"    {line_of(line)}" for line in lines)


def _ends(moments: Sequence[tuple[float, str]], most: int) -> Sequence[tuple[float, str]]:
    """The first and the last ones."""
    return moments if len(moments) <= most else (*moments[: most // 2], *moments[-most // 2 :])


def _failed(kind: FailedKind) -> str:
    told = [str(status) for status in kind.statuses if status]
    silent = "is not answered" if 0 in kind.statuses else ""
    return " and ".join(filter(None, (f"answers {', '.join(told)}" if told else "", silent)))


def _moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
