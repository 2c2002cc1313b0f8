"""Plane figures."""

from shapes.circle import Circle
from shapes.polygon import area

__all__ = ["Circle", "area"]
