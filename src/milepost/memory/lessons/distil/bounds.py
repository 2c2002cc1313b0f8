"""How much of an experience is read: what is larger is there by its name only."""

from __future__ import annotations

from dataclasses import replace

from milepost.memory.lessons.experience import Experience, FileChange, VerifiedAttempt

LARGEST_FILE, MOST_FILES, MOST_TRIES = 60_000, 100, 10
LARGEST_CHANGE = 600_000


def bounded(experience: Experience) -> Experience:
    """An experience of which everything can be read in a moment: the last attempts, files of a size people write."""
    return replace(experience, tries=tuple(_bounded(one) for one in experience.tries[-MOST_TRIES:]))


def _bounded(tried: VerifiedAttempt) -> VerifiedAttempt:
    kept: list[FileChange] = []
    size = 0
    for change in tried.changes[:MOST_FILES]:
        both = len(change.before or "") + len(change.after or "")
        size += both
        is_small = both <= 2 * LARGEST_FILE and len(change.after or "") <= LARGEST_FILE and size <= LARGEST_CHANGE
        kept.append(change if is_small else FileChange(path=change.path, before=None, after=None))
    return replace(tried, changes=tuple(kept))
