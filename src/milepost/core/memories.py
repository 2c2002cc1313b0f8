"""What is remembered of an attempt, and what later attempts are told."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One attempt as an experience: what was tried, by whom, and how it ended."""

    run: str
    task: str
    title: str
    attempt: int
    agent: str
    verdict: Verdict
    reason: str
    duration_ms: int
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """A few lines for the next attempt, each from an episode that was verified."""

    lines: tuple[str, ...] = ()
