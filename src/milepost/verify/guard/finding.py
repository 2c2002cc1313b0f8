"""A finding: one thing in a change that makes its tests worth less, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardFinding:
    """`forges` marks what no task can ask for by allowing its tests to change: a runner that is made to lie."""

    path: str
    line: int
    what: str
    forges: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}" if self.line else f"{self.path}: {self.what}"


def counted(count: int, one: str, many: str = "") -> str:
    """`1 assertion`, `2 assertions`."""
    return f"1 {one}" if count == 1 else f"{count} {many or one + 's'}"
