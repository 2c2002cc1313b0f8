"""The proof that a task is done: read it, verify the files now, replay it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import ignore, path_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from milepost.api.arguments import OnCheck, OnEvent
    from milepost.core.verdict import Evidence
    from milepost.engine.commands.verify import Replayed, Verified
    from milepost.engine.replay.replay import RunReplayed
    from milepost.engine.views.proof import Proof


def proof(task: str, roadmap: Path | str | None = None) -> Proof:
    """The evidence for a task's milepost, or for its last attempt if it has none."""
    from milepost.engine.views import proof as views

    return views.proof(path_of(roadmap), task)


def to_json(proof: Proof) -> dict[str, Any]:
    """A proof as `milepost proof --json` prints it."""
    from milepost.verify.proof import to_json as proof_to_json

    return proof_to_json(
        task=proof.task, run=proof.run, attempt=proof.attempt, commit=proof.commit, evidence=proof.evidence
    )


def logs(task: str, roadmap: Path | str | None = None) -> tuple[tuple[str, str], ...]:
    """The full output of each check of a task's proof, as pairs of name and text."""
    from milepost.engine.views import proof as views

    return views.logs(path_of(roadmap), task)


def verify(task: str | None = None, roadmap: Path | str | None = None, *, on_check: OnCheck | None = None) -> Verified:
    """Run the checks on the files as they are now, committed or not; `task` adds the checks of that task."""
    from milepost.engine.commands.verify import verify_now

    return verify_now(path_of(roadmap), task, on_check or ignore)


def evidence_to_json(evidence: Evidence) -> dict[str, Any]:
    """Evidence as `milepost verify --json` prints it."""
    from milepost.verify.proof import evidence_to_json as to_json

    return to_json(evidence)


def replay(task: str, roadmap: Path | str | None = None, *, on_check: OnCheck | None = None) -> Replayed:
    """Run the checks of a milepost again on its recorded tree, and compare the result with its evidence."""
    from milepost.engine.commands.verify import replay as check_again

    return check_again(path_of(roadmap), task, on_check or ignore)


def replay_run(
    run: str,
    roadmap: Path | str | None = None,
    *,
    task: str = "",
    folder: Path | str | None = None,
    on_event: OnEvent | None = None,
) -> RunReplayed:
    """Replay a finished run in a clone from what its agents did, and compare the trees of its mileposts.

    The clone is made in `folder` and stays there; without a folder it stays only if the trees differ.
    """
    from milepost.engine.replay.replay import replay_run as replay_all

    return replay_all(path_of(roadmap), run, task=task, folder=path_of(folder), on_event=on_event or ignore)


def replayed_to_json(replayed: RunReplayed) -> dict[str, Any]:
    """The last line of `milepost replay --json`."""
    from milepost.engine.replay.replay import to_json

    return to_json(replayed)
