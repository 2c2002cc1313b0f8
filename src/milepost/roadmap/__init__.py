"""ROADMAP.md to tasks and back: read, tick."""

from milepost.roadmap.editing.tick import tick, untick
from milepost.roadmap.reading.read import read

__all__ = ["read", "tick", "untick"]
