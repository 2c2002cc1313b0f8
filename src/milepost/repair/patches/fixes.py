"""Fixes: the diffs in an agent's answer, put through the ledger and applied all or none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost.core.task import Task
from milepost.repair.patches.apply import RunGit, apply, object_to, rendered, roll_back, touched_paths
from milepost.repair.patches.find_diffs import find
from milepost.repair.patches.patch import Patch, PatchState, created
from milepost.repair.patches.patch_log import PatchLedger
from milepost.sandbox.confined import PlainFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class FixReport:
    """What became of an answer: the patch as the ledger has it, None when there was no diff in it at all."""

    patch: Patch | None
    reason: str = ""

    @property
    def applied(self) -> bool:
        return self.patch is not None and self.patch.is_in_tree


def apply_fix(
    answer: str,
    *,
    run: str,
    task: Task,
    attempt: int,
    source: str,
    folder: Path,
    ledger: PatchLedger,
    run_git: RunGit,
    protected: tuple[str, ...] = (),
) -> FixReport:
    """Take the diffs out of an answer and apply all or none, every step in the ledger; nothing is verified here.

    What was refused or taken back before, in the same attempt, is not tried again.
    """
    found = find(answer)
    files = tuple(file for diff in found.diffs for file in diff)
    if not files and not found.problems:
        return FixReport(patch=None, reason="the answer contains no unified diff")
    place = PlainFolder(folder)
    diff = answer if found.problems else rendered(files, place).decode("utf-8", "surrogateescape")
    paths = touched_paths(files)
    patch = created(run=run, task=task.id, attempt=attempt, source=source, diff=diff, paths=paths)
    if (known := ledger.patch(patch.id)) and known.state not in ("created", "validated", "applied"):
        return _ended(known)
    ledger.keep(patch)
    if found.problems:
        return _ended(ledger.move(patch, "failed", "; ".join(found.problems)))
    if objection := object_to(files, task=task, folder=place, run_git=run_git, protected=protected):
        end: PatchState = "quarantined" if objection.kind == "breach" else "failed"
        return _ended(ledger.move(patch, end, objection.reason))
    patch = ledger.move(patch, "validated", "it is complete, in scope, and applies")
    touched = apply(files, folder=place, run_git=run_git)
    if isinstance(touched, str):
        return _ended(ledger.move(patch, "failed", touched))
    if all(one.before == one.after for one in touched):
        return _ended(ledger.move(patch, "failed", "it changes nothing"))
    return _ended(ledger.move(patch, "applied", f"changed {', '.join(patch.paths)}", touched))


def take_back(patch: Patch, reason: str, *, folder: Path, ledger: PatchLedger, run_git: RunGit) -> FixReport:
    """Roll an applied patch back, byte for byte; one that does not come out is put in quarantine."""
    problem = roll_back(ledger.touched(patch.id), patch.diff, folder=PlainFolder(folder), run_git=run_git)
    if problem:
        return _ended(ledger.move(patch, "quarantined", f"{reason}; it could not be rolled back: {problem}"))
    return _ended(ledger.move(patch, "rolled_back", reason))


def _ended(patch: Patch) -> FixReport:
    return FixReport(patch=patch, reason=patch.reason)
