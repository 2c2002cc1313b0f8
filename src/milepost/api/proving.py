"""Proof that a task is done, and the same proof again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.given import path_of, unheard

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from milepost.api.given import OnCheck, OnEvent
    from milepost.core.verdict import Evidence
    from milepost.engine.commands.verify import Replayed, Verified
    from milepost.engine.replay.replay import RunReplayed
    from milepost.engine.views.status import Proof


def proof(task: str, roadmap: Path | str | None = None) -> Proof:
    """The evidence for a task's milepost, or for its last attempt where it has none."""
    from milepost.engine.views import status

    return status.proof(path_of(roadmap), task)


def proof_to_json(proof: Proof) -> dict[str, Any]:
    """A proof as `milepost proof --json` prints it."""
    from milepost.verify.proof import to_json

    return to_json(task=proof.task, run=proof.run, attempt=proof.attempt, commit=proof.commit, evidence=proof.evidence)


def logs(task: str, roadmap: Path | str | None = None) -> tuple[tuple[str, str], ...]:
    """The whole output of each check behind a task's proof: its name and the text."""
    from milepost.engine.views import status

    return status.logs(path_of(roadmap), task)


def verify(task: str | None = None, roadmap: Path | str | None = None, *, on_check: OnCheck | None = None) -> Verified:
    """Put the checks to the files as they are now, committed or not; `task` adds what that task asks for."""
    from milepost.engine.commands.verify import verify_now

    return verify_now(path_of(roadmap), task, on_check or unheard)


def evidence_to_json(evidence: Evidence) -> dict[str, Any]:
    """Evidence as `milepost verify --json` prints it."""
    from milepost.verify.proof import evidence_to_json as to_json

    return to_json(evidence)


def replay(task: str, roadmap: Path | str | None = None, *, on_check: OnCheck | None = None) -> Replayed:
    """Prove a milepost again on the tree that it recorded, and compare with the evidence that it carries."""
    from milepost.engine.commands.verify import replay as prove_again

    return prove_again(path_of(roadmap), task, on_check or unheard)


def replay_run(
    run: str,
    roadmap: Path | str | None = None,
    *,
    task: str = "",
    folder: Path | str | None = None,
    on_event: OnEvent | None = None,
) -> RunReplayed:
    """Do a finished run again in a clone, by what its agents did then, and compare the trees of its mileposts.

    The clone is made in `folder`, and stays there; without one it stays only where the trees differ.
    """
    from milepost.engine.replay.replay import replay_run as do_again

    return do_again(path_of(roadmap), run, task=task, folder=path_of(folder), on_event=on_event or unheard)


def run_replayed_to_json(replayed: RunReplayed) -> dict[str, Any]:
    """The last line of `milepost replay --json`."""
    from milepost.engine.replay.replay import to_json

    return to_json(replayed)
