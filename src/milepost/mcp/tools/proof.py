"""The proof of a task: what was run to believe that it is done, or why it was not accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

import milepost
from milepost.mcp.project_folder import Folder, ServerProject
from milepost.mcp.tool import Brief
from milepost.serving.threads import aside

LONGEST_SUMMARY = 300
TaskId = Annotated[str, Field(min_length=1, max_length=200)]


class Checked(Brief):
    name: str
    outcome: str
    summary: str = ""
    decisive: bool = False


class Proven(Brief):
    """`commit` is the milepost, absent where there is none; failed checks come first; `notes` qualify the verdict."""

    task: str
    title: str = ""
    verdict: str
    reason: str = ""
    commit: str = ""
    run: str = ""
    attempts: int = 0
    agent: str = ""
    notes: tuple[str, ...] = ()
    checks: tuple[Checked, ...] = ()
    left_out: int = 0


def proof_tools(place: ServerProject) -> tuple[Callable[..., Any], ...]:
    async def proof(
        task: TaskId,
        workspace: Folder = "",
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
    ) -> Proven:
        """Evidence that a task is done (checks, verdict, commit), or why its last attempt was not accepted."""
        found = await aside(lambda: milepost.proof(task, place.roadmap(workspace)))
        return brief_proof(found, limit)

    return (proof,)


def brief_proof(found: milepost.Proof, limit: int) -> Proven:
    asked = sorted(
        (check for check in found.evidence.checks if check.outcome != "absent"),
        key=lambda check: (check.outcome != "failed", not check.decisive),
    )
    return Proven(
        task=found.task,
        title=found.title,
        verdict=found.verdict.value,
        reason=found.evidence.reason[:LONGEST_SUMMARY],
        commit=found.commit or "",
        run=found.run,
        attempts=max(len(found.attempts), found.attempt),
        agent=found.agent,
        notes=_notes(found)[:limit],
        checks=[_checked(check) for check in asked[:limit]],
        left_out=max(0, len(asked) - limit),
    )


def _notes(found: milepost.Proof) -> list[str]:
    """Who approved or accepted it, what the verdict rests on, and what a person is or was asked."""
    words = [found.words] if found.words != found.verdict.value else []
    asked = [f"asked: {one.text}" for one in found.evidence.questions]
    return [line[:LONGEST_SUMMARY] for line in (*words, *found.basis, *asked)]


def _checked(check: milepost.CheckResult) -> Checked:
    return Checked(
        name=check.name, outcome=check.outcome, summary=check.summary[:LONGEST_SUMMARY], decisive=check.decisive
    )
