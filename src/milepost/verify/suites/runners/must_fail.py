"""Planted tests of compiled languages: each compares two numbers that differ, and says one that its source does not.

What tells a whole run without running it does not know them; what keeps tests from failing keeps these, too.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace

from milepost.core.commands import CommandResult

NOT_FAILED = "a planted test that must fail did not: "

_CONSONANTS, _VOWELS = "bdfgklmnprstv", "aeiou"


@dataclass(frozen=True, slots=True, kw_only=True)
class MustFail:
    """A planted test: `left * right` is what it says when it finds that this is not `wrong`."""

    name: str
    left: int
    right: int
    wrong: int

    @property
    def token(self) -> str:
        return str(self.left * self.right)


def drawn(name: str) -> MustFail:
    """A planted test of this name and of numbers that nobody can know."""
    left, right = (10_000 + secrets.randbelow(90_000) for _ in range(2))
    return MustFail(name=name, left=left, right=right, wrong=left * right + 1 + secrets.randbelow(99))


def word() -> str:
    """A word that means nothing, so that no pattern of names is about it."""
    return "".join(secrets.choice(_CONSONANTS) + secrets.choice(_VOWELS) for _ in range(5))


def without(result: CommandResult, tests: Iterable[MustFail]) -> CommandResult:
    """What a command told without the lines about planted tests, which are nobody's to repair."""
    words = tuple(word for test in tests for word in (test.name, test.token))

    def kept(text: str) -> str:
        return "\n".join(line for line in text.split("\n") if not any(word in line for word in words))

    return replace(result, stdout=kept(result.stdout), stderr=kept(result.stderr)) if words else result
