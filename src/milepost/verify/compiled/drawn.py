"""Tests under drawn names, with what each must come to."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Literal

from milepost.verify.suites.runners.must_fail import word

MOST_OTHERS = 6

Kind = Literal["test", "otherwise", "built", "planted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTest:
    """A test of a program: one of the project's by its place `of`, a copy of it that expects otherwise, or a planted
    one. All but the first must fail; a copy is `sure` where the test always comes to what was changed. One that is
    `built` has other values in the objects that it builds to compare with.

    What says how it ended are words that nobody can know.
    """

    name: str
    of: str
    kind: Kind
    sure: bool = False
    passed: str = field(default_factory=lambda: secrets.token_hex(12))
    failed: str = field(default_factory=lambda: secrets.token_hex(12))
    skipped: str = field(default_factory=lambda: secrets.token_hex(12))


def drawn_name() -> str:
    """A name that says nothing, in the style of exported Go and, in small letters, of Rust."""
    return f"{word()}{word()}".title()
