"""What came of a benchmark: a line a task, and the figures over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """`milepost` says whether the engine called it done, `hidden` whether it was (None: nothing to look at).

    `held` work waits for a person: it is neither done nor believed.
    """

    id: str
    title: str
    milepost: bool
    hidden: bool | None
    attempts: int
    tokens: int | None
    cost_usd: float
    duration_ms: int
    reason: str
    held: bool = False

    @property
    def success(self) -> bool:
        return self.milepost and self.hidden is True

    @property
    def false_done(self) -> bool:
        return self.milepost and self.hidden is not True

    @property
    def ending(self) -> str:
        if self.false_done:
            return "false done"
        if self.held:
            return "held"
        return "done" if self.success else "not done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    agent: str
    tasks: tuple[TaskReport, ...]

    @property
    def successes(self) -> int:
        return sum(task.success for task in self.tasks)

    @property
    def false_done(self) -> int:
        return sum(task.false_done for task in self.tasks)

    @property
    def success_rate(self) -> float:
        return self.successes / len(self.tasks) if self.tasks else 0.0

    @property
    def attempts(self) -> int:
        return sum(task.attempts for task in self.tasks)

    @property
    def tokens(self) -> int | None:
        """None when the agent did not tell of any task."""
        told = [task.tokens for task in self.tasks if task.tokens is not None]
        return sum(told) if told else None

    @property
    def cost_usd(self) -> float:
        return round(sum(task.cost_usd for task in self.tasks), 6)

    @property
    def duration_ms(self) -> int:
        return sum(task.duration_ms for task in self.tasks)


def to_json(report: Report) -> dict[str, Any]:
    """What `milepost bench --json` prints."""
    return {
        "agent": report.agent,
        "success_rate": round(report.success_rate, 4),
        "successes": report.successes,
        "false_done": report.false_done,
        "held": sum(task.held for task in report.tasks),
        "attempts": report.attempts,
        "tokens": report.tokens,
        "cost_usd": report.cost_usd,
        "duration_ms": report.duration_ms,
        "tasks": [
            {
                "id": task.id,
                "title": task.title,
                "success": task.success,
                "false_done": task.false_done,
                "milepost": task.milepost,
                "held": task.held,
                "hidden": task.hidden,
                "attempts": task.attempts,
                "tokens": task.tokens,
                "cost_usd": task.cost_usd,
                "duration_ms": task.duration_ms,
                "reason": task.reason,
            }
            for task in report.tasks
        ],
    }


def rows(report: Report) -> list[tuple[str, ...]]:
    """The report as rows of words: the headings, a row a task, the sums."""
    headings = ("task", "ending", "attempts", "tokens", "cost", "time", "reason")
    each = [
        _row(task.id, task.ending, task.attempts, task.tokens, task.cost_usd, task.duration_ms, task.reason)
        for task in report.tasks
    ]
    ending = f"{report.successes} of {len(report.tasks)} done"
    held = sum(task.held for task in report.tasks)
    said = f"{report.success_rate:.0%} success, {report.false_done} false done" + (f", {held} held" if held else "")
    sums = _row("all", ending, report.attempts, report.tokens, report.cost_usd, report.duration_ms, said)
    return [headings, *each, sums]


def _row(
    name: str, ending: str, attempts: int, tokens: int | None, cost_usd: float, duration_ms: int, reason: str
) -> tuple[str, ...]:
    counted = "–" if tokens is None else str(tokens)
    return (name, ending, str(attempts), counted, f"${cost_usd:.2f}", f"{duration_ms / 1000:.1f} s", reason)
