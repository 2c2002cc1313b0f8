"""What is computed when an episode ends: its reward, what its facts say, the patterns in it."""

from __future__ import annotations

from milepost.core.memories import Assessment, Episode
from milepost.memory.assessment.patterns import patterns_of
from milepost.memory.assessment.reflection import reflect
from milepost.memory.assessment.reward import reward_of


def assess(episode: Episode) -> Assessment:
    """What an ended episode was worth and what comes again in it; nothing of the kind for one that is open."""
    found = patterns_of(episode)
    return Assessment(reward=reward_of(episode, found), reflection=reflect(episode), patterns=found)
