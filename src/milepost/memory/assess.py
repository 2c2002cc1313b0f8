"""What is computed when an episode ends: its reward, what its facts say, the patterns in it."""

from __future__ import annotations

from milepost.core.memories import Assessment, Episode


def assess(episode: Episode) -> Assessment:
    """What an ended episode was worth and what comes again in it; nothing of the kind for one that is open."""
    return Assessment()
