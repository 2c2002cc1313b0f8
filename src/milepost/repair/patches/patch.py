"""A patch: one candidate change as a unified diff, and the life it has led."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Literal

PatchState = Literal[
    "created", "validated", "applied", "verified", "committed", "failed", "rolled_back", "quarantined", "dropped"
]

# Where a patch may go from where it is. What is in a tree leaves it only by being rolled back, see `advance`.
MOVES: dict[PatchState, frozenset[PatchState]] = {
    "created": frozenset({"validated", "failed", "quarantined", "dropped"}),
    "validated": frozenset({"applied", "failed", "quarantined", "dropped"}),
    "applied": frozenset({"verified", "failed", "rolled_back", "quarantined"}),
    "verified": frozenset({"committed", "failed", "rolled_back", "quarantined"}),
    "committed": frozenset({"rolled_back"}),
    "failed": frozenset({"rolled_back", "quarantined", "dropped"}),
    "rolled_back": frozenset({"quarantined", "dropped"}),
    "quarantined": frozenset({"rolled_back", "dropped"}),
    "dropped": frozenset(),
}


class IllegalMove(ValueError):
    """A patch was sent where it cannot go from where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchStep:
    """One step in the life of a patch, and why it was taken."""

    to: PatchState
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A change that somebody proposes; `source` is who. The same proposal for the same attempt has the same id."""

    id: str
    run: str
    task: str
    attempt: int
    source: str
    diff: str
    paths: tuple[str, ...]
    history: tuple[PatchStep, ...]

    @property
    def state(self) -> PatchState:
        return self.history[-1].to

    @property
    def reason(self) -> str:
        return self.history[-1].reason

    @property
    def is_in_tree(self) -> bool:
        """Whether its change is in the files: applied, and not rolled back since."""
        steps = [move.to for move in self.history if move.to in ("applied", "rolled_back")]
        return bool(steps) and steps[-1] == "applied"


def created(*, run: str, task: str, attempt: int, source: str, diff: str, paths: tuple[str, ...]) -> Patch:
    """A new patch at the beginning of its life."""
    text = "\0".join((run, task, str(attempt), source, diff))
    return Patch(
        id=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        run=run,
        task=task,
        attempt=attempt,
        source=source,
        diff=diff,
        paths=paths,
        history=(PatchStep(to="created"),),
    )


def may_move(patch: Patch, to: PatchState) -> bool:
    """Whether the table has the step, and what is in the tree is neither forgotten there nor taken out twice."""
    if to not in MOVES[patch.state]:
        return False
    if to == "rolled_back":
        return patch.is_in_tree
    return not (to == "dropped" and patch.is_in_tree)


def advance(patch: Patch, to: PatchState, reason: str = "") -> Patch:
    """The patch one step further; raises IllegalMove where there is no such step."""
    if not may_move(patch, to):
        raise IllegalMove(f"patch {patch.id} is {patch.state!r} and cannot become {to!r}")
    return replace(patch, history=(*patch.history, PatchStep(to=to, reason=reason)))
