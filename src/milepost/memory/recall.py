"""What episodes of earlier runs have to say about a task."""

from __future__ import annotations

from collections.abc import Iterable

from milepost.core.memories import Episode, Lessons
from milepost.core.verdict import Verdict

MOST_LINES = 3
LONGEST_REASON = 300


def lessons_from(episodes: Iterable[Episode], *, run: str) -> Lessons:
    """At most three lines, the newest first; the run's own episodes are its evidence, not its memory."""
    lines: dict[str, str] = {}
    for episode in reversed([episode for episode in episodes if episode.run != run]):
        match episode.verdict:
            case Verdict.PASSED:
                times = "1 attempt" if episode.attempt == 1 else f"{episode.attempt} attempts"
                lines.setdefault(f"passed {episode.agent}", f"done before by agent {episode.agent} in {times}")
            case Verdict.FAILED:
                reason = " ".join(episode.reason.split())[:LONGEST_REASON]
                where = f"run {episode.run}, attempt {episode.attempt}, agent {episode.agent}"
                lines.setdefault(f"failed {reason}", f"failed before ({where}): {reason}")
            case Verdict.UNVERIFIED:
                pass
    return Lessons(lines=tuple(lines.values())[:MOST_LINES])


def folded(title: str) -> str:
    """The title as it is compared: neither case nor spacing matters."""
    return " ".join(title.casefold().split())
