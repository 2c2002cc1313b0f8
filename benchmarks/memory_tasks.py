"""What is remembered and asked in `memory.py`, the same for everybody; standard library only."""

from __future__ import annotations

import random
from collections.abc import Iterator

PROJECTS = 10
QUERIES = 100
ADDS = 200
LESSON_EVERY = 20  # episodes to a lesson

_SYLLABLES = "ba co di fu ga he ki lo mu na po re si ta vu wo xe ya zi pel mar ton ser lin dor".split()  # noqa: SIM905


def tasks(size: int) -> Iterator[tuple[str, str, str]]:
    """So many tasks: the project, the title, the text. Half of them belong to the project that is asked about."""
    chance = random.Random(7)
    words, weights = _vocabulary(chance)
    for number in range(size):
        project = "p0" if chance.random() < 0.5 else f"p{chance.randrange(1, PROJECTS)}"
        title = " ".join(chance.choices(words, weights, k=7))
        yield project, f"{title} task{number}", " ".join(chance.choices(words, weights, k=14))


def queries() -> list[str]:
    """What is asked for."""
    chance = random.Random(11)
    words, weights = _vocabulary(random.Random(7))
    return [" ".join(chance.choices(words, weights, k=8)) for _ in range(QUERIES)]


def _vocabulary(chance: random.Random) -> tuple[list[str], list[float]]:
    """Words that are as often as those of a language: the second half as often as the first, and so on."""
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randrange(2, 5))) for _ in range(5_000)]
    return words, [1 / (place + 10) for place in range(len(words))]
