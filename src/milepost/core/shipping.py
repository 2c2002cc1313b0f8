"""What is built, where it is deployed, and what is measured there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A built file, named by its content."""

    name: str
    path: Path
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A deployed version of an artifact; the highest number is the newest."""

    number: int
    artifact: Artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Whether a target answers, and how many copies of the release it runs."""

    healthy: bool
    release: int | None
    copies: int
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One value of one metric at one moment."""

    metric: str
    value: float
    at: float
