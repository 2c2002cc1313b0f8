"""How a roadmap says what is a task and what is done: a module a dialect, and the choice between them."""

from __future__ import annotations

from milepost.roadmap.dialects.choose import READERS, Chosen, choose
from milepost.roadmap.reading.drafts import DialectReading
from milepost.roadmap.reading.options import Dialect, Manner
from milepost.roadmap.reading.source import RoadmapSource

__all__ = ["READERS", "Chosen", "choose", "reading_of"]


def reading_of(source: RoadmapSource, manner: Manner) -> tuple[Dialect, DialectReading]:
    """The dialect that a roadmap is read in, and what that makes of it."""
    chosen = choose(source, manner)
    return chosen.dialect, chosen.reading
