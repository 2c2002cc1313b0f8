"""A further opinion: an agent that looks at a change and may refuse it, and whose praise decides nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from milepost.agents.prompts import filled, quoted
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.errors import BudgetSpent, LeaseLost, MachineFailed
from milepost.core.ports import Agent, Tools
from milepost.core.task import Task
from milepost.core.unified_diff import unified_diff
from milepost.core.verdict import CheckResult

NAME = "opinion"
LONGEST_DIFF = 60_000

_UNASKED = {
    "gave_up": "it gave up",
    "timed_out": "it ran out of time",
    "limited": "its service cannot be asked now",
    "spent": "its budget is spent",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """Whoever is asked for an opinion, and what it is given to form one."""

    name: str
    run: str
    agent: Callable[[], Agent]
    tools: Callable[[Task, int, str], Tools]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionCheck:
    """Asks a reviewer about a change. What it does to the checkout is thrown away with it."""

    reviewer: Reviewer
    task: Task
    change: Change
    attempt: int
    tree: str

    def run(self, workspace: Workspace) -> CheckResult:
        task, who = self.task, self.reviewer
        assignment = Assignment(
            run=who.run,
            task=task.id,
            title=f"Review: {task.title}",
            text=question_about(task, self.change),
            attempt=1,
            files=task.files,
        )
        try:
            outcome = who.agent().act(assignment, workspace, who.tools(task, self.attempt, self.tree))
        except (MachineFailed, LeaseLost):
            raise
        except BudgetSpent as wall:
            if wall.scope == "run":
                raise
            outcome = Outcome(status="spent", said=wall.message)
        except Exception as error:
            outcome = Outcome(status="gave_up", said=f"{type(error).__name__}: {error}")
        if outcome.status != "finished":
            summary = f"{who.name} gave no opinion: {_UNASKED[outcome.status]}"
            return CheckResult(name=NAME, outcome="failed", summary=summary, log=outcome.said)
        refusal = refusal_in(outcome.said)
        if refusal is None:
            return CheckResult(name=NAME, outcome="passed", summary=f"{who.name} has no objection", log=outcome.said)
        return CheckResult(name=NAME, outcome="failed", summary=f"{who.name} objects: {refusal}", log=outcome.said)


def question_about(task: Task, change: Change) -> str:
    """What a reviewer is asked."""
    return filled(
        "opinion",
        title=" ".join(task.title.split()),
        text=quoted(task.text) if task.text.strip() else "It has no text beside its title.",
        diff=quoted(diff_of(change), limit=2 * LONGEST_DIFF),
    )


def refusal_in(said: str) -> str | None:
    """Why the change is refused, None when it is accepted; an answer that cannot be read refuses."""
    lines = [line for line in said.splitlines() if line.strip().startswith("{")]
    try:
        answer = json.loads(lines[-1]) if lines else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("accept"), bool):
        return "its answer has no line of JSON with accept"
    return None if answer["accept"] else str(answer.get("reason") or "it gave no reason")


def diff_of(change: Change) -> str:
    """The change as a unified diff, cut where it is too long to read."""
    text = "\n".join(line for file in change.files for line in _diff(file))
    return text if len(text) <= LONGEST_DIFF else f"{text[:LONGEST_DIFF]}\n[the rest is left out]"


def _diff(file: ChangedFile) -> list[str]:
    before, after = file.text_before.splitlines(), file.text_after.splitlines()
    return list(unified_diff(before, after, f"a/{file.path}", f"b/{file.path}", line_end=""))
