"""Circles."""

from dataclasses import dataclass
from math import pi


@dataclass(frozen=True)
class Circle:
    radius: float

    def area(self) -> float:
        return pi * self.radius**2
