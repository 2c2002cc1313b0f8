"""The note of a milepost, read back."""

from __future__ import annotations

import json
from dataclasses import dataclass

from milepost.core.errors import EvidenceForged, MilepostError
from milepost.core.verdict import Evidence
from milepost.engine.records.values_json import load
from milepost.workspace.mileposts import Milepost, Mileposts, evidence_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptNote:
    """The note of a milepost as it is now; `problem` is why it is not to be believed, empty when it is."""

    evidence: Evidence
    corrections: tuple[tuple[str, str], ...] = ()
    problem: str = ""


def recorded_note(mileposts: Mileposts, post: Milepost) -> KeptNote:
    """The evidence that a milepost carries; a note that was edited or forged has a problem."""
    return read_note(mileposts.note(post.commit), post)


def read_note(text: str | None, post: Milepost) -> KeptNote:
    """What a note says, which a milepost may be without."""
    if text is None:
        raise MilepostError(
            f"milepost {post.commit[:7]} of {post.task} has no evidence note",
            "fetch the notes: git fetch origin refs/notes/milepost:refs/notes/milepost",
        )
    forged = bool(post.evidence) and evidence_hash(text) != post.evidence
    try:
        note = json.loads(text)
        evidence = load(Evidence, note["evidence"])
        corrections = tuple((str(wrong), str(right)) for wrong, right in note.get("corrections", ()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EvidenceForged(
            f"the evidence note of {post.task} on {post.commit[:7]} is damaged",
            "see its content: git notes --ref=milepost show",
        ) from error
    problem = "the note was edited since the milepost was made" if forged else ""
    return KeptNote(evidence=evidence, corrections=corrections, problem=problem)
