"""ROADMAP.md to tasks and back: read, tick."""

from milepost.roadmap.read import read
from milepost.roadmap.tick import tick, untick

__all__ = ["read", "tick", "untick"]
