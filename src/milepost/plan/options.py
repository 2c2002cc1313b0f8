"""How a plan is made of a roadmap: what the settings say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Sequence = Literal["free", "outline"]
Grouping = Literal["none", "section", "smart"]
Unit = Literal["task", "subtask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """What follows what beside what the tasks state, and what is done in one attempt.

    `sequence`: as the dependencies allow, or as the roadmap lists it. `grouping`: which small tasks share an attempt.
    `unit`: whether a task with subtasks is one attempt, or each of these. `imports`: whether a task waits for those
    that change what its files import.
    """

    sequence: Sequence = "free"
    grouping: Grouping = "none"
    unit: Unit = "task"
    imports: bool = True


PLAIN = Planning()
