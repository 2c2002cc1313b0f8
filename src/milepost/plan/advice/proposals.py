"""How a task that is too much for one attempt could be split: the parts that it falls into by what it says itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from milepost.core.task import Plan, Task
from milepost.core.task_parts import parts_of
from milepost.plan.advice.complexity import complexity_of

_NUMBERED = re.compile(r"\d{1,4}(?:\.\d{1,4}){1,6}|[A-Z]{1,4}-?\d{1,6}(?:[.-]\d{1,6}){0,4}")
# What a title would have to be without to be named whole by a dependency.
_SEVERAL = re.compile(r"[,;&`()\[\]\"']|\band\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A task that is too big, what makes it so, and its parts; none where it falls into none by itself."""

    task: Task
    reasons: tuple[str, ...]
    parts: tuple[Task, ...]

    def lines(self) -> tuple[str, ...]:
        """The parts as they could stand in the roadmap in the place of the task, each after the one before it."""
        lines: list[str] = []
        before = ", ".join(self.task.depends_on)
        for number, part in enumerate(self.parts, 1):
            label = f"{self.task.id}.{number}" if _NUMBERED.fullmatch(self.task.id) else ""
            lines.append(f"- [ ] {label} {part.title}".replace("  ", " "))
            lines += [f"  - Files: {', '.join(f'`{file}`' for file in part.files)}"] if part.files else []
            lines += [f"  - Verify: `{line}`" for line in part.verify]
            lines += [f"  - Depends on: {before}"] if before else []
            before = label or ("" if _SEVERAL.search(part.title) else part.title)
        return tuple(lines)


def proposals_for(plan: Plan) -> tuple[Proposal, ...]:
    """A proposal for each open task that is too big, in the order of the file."""
    found = ((task, complexity_of(task)) for task in plan.tasks if task.status == "open" and not task.members)
    return tuple(
        Proposal(task=task, reasons=complexity.reasons, parts=parts_of(task))
        for task, complexity in found
        if complexity.is_too_big
    )
