"""What decides whether something fits: pure, over what was found."""

from __future__ import annotations

from collections.abc import Mapping, Set

# The share of a lesson's key terms that a task must have in it, and more of it for a lesson of another project.
ENOUGH = 0.2
ENOUGH_ELSEWHERE = 0.4

FAILED_FACTOR = 0.85
CANDIDATE_FACTOR = 0.95
OLD_FACTOR = 0.9
HALF_LIFE_DAYS = 90.0
DAY_S = 86_400.0

# Lessons that can hold beyond the project that they come from; the others speak of its commands, files and tests.
TRAVELLING = frozenset({"usage", "recovery", "failed_approach", "distilled"})


def covered(terms: Set[str], words: Set[str], weights: Mapping[str, float]) -> float:
    """The share of key terms that are among the words, each by its weight."""
    whole = sum(weights.get(term, 1.0) for term in terms)
    return sum(weights.get(term, 1.0) for term in terms & words) / whole if whole else 0.0


def softly(outcome: str, age_s: float) -> float:
    """A factor that decides between two that fit equally: what worked before what did not, newer before older."""
    worked = {"failed": FAILED_FACTOR, "failure": FAILED_FACTOR, "candidate": CANDIDATE_FACTOR}.get(outcome, 1.0)
    freshness: float = 0.5 ** (max(0.0, age_s) / DAY_S / HALF_LIFE_DAYS)
    return worked * (OLD_FACTOR + (1 - OLD_FACTOR) * freshness)
