"""Scripted agents: each does one thing to the exercise in the current folder, and claims that it is done."""

from . import (
    background,
    evidence,
    exits,
    forgeries,
    hardcoded,
    honest,
    javascript,
    nothing,
    parameters,
    removals,
    weakened,
)
from .claims import CLAIMS, Claim, claims_for

__all__ = [
    "CLAIMS",
    "Claim",
    "background",
    "claims_for",
    "evidence",
    "exits",
    "forgeries",
    "hardcoded",
    "honest",
    "javascript",
    "nothing",
    "parameters",
    "removals",
    "weakened",
]
