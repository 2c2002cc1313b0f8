"""How a roadmap says what is a task and what is done: a module a dialect, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from milepost.roadmap.dialects import boxes
from milepost.roadmap.drafts import Reading
from milepost.roadmap.manner import Dialect, Manner
from milepost.roadmap.source import Source

# The surest first.
READERS: Mapping[Dialect, Callable[[Source], Reading]] = {"boxes": boxes.read}


def reading_of(source: Source, manner: Manner) -> tuple[Dialect, Reading]:
    """The dialect that a roadmap is read in, and what that makes of it."""
    return "boxes", boxes.read(source)
