"""The patterns of a memory: what comes again in the verified episodes of its project, all or those that fit a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from milepost.core.memories import Pattern
from milepost.engine.memory.browse import searched
from milepost.engine.memory.memory_handle import OpenedMemory
from milepost.engine.memory.task_kind import language_among
from milepost.memory.assessment.patterns import fitting, merged
from milepost.memory.recall.words import USUAL, words_of

MOST_COUNTED = 5_000  # episodes whose patterns are counted together
MOST_ALIKE = 50  # episodes whose patterns fit a task


def all_patterns(opened: OpenedMemory) -> tuple[Pattern, ...]:
    """The patterns of the project's episodes, counted together."""
    ended = opened.stored.journal.ended(project=opened.project, most=MOST_COUNTED)
    return merged(pattern for one in ended if one.assessment is not None for pattern in one.assessment.patterns)


def fitting_patterns(opened: OpenedMemory, text: str, files: Sequence[str], error: str) -> Iterator[Pattern]:
    """Those of episodes that were about the same things, or had the same error."""
    subject = " ".join(word for word in words_of(text, *files) if word not in USUAL)
    alike = list(searched(opened, subject, MOST_ALIKE)) if subject else []
    if error.strip():
        alike += [one for one in searched(opened, error, MOST_ALIKE) if one.why.startswith("the same error")]
    episodes = {one.id for one in alike if one.kind == "episode" and one.project == opened.project}
    return fitting(all_patterns(opened), episodes, language_among(files))
