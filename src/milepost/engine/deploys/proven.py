"""Whether a commit may be deployed, and what speaks for it in the record of its release."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.approval import verdict_words
from milepost.engine.packaging import proven
from milepost.engine.project.project import Project
from milepost.engine.records.milepost_note import recorded_note
from milepost.workspace.mileposts import Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What speaks for a commit; `problem` is why it is not proven, empty when it is."""

    commit: str
    tree: str
    proof: str = ""
    problem: str = ""


def standing_of(project: Project, mileposts: Mileposts, commit: str) -> Standing:
    """What its mileposts say, and which of them is the newest."""
    found, tree = proven.standing_of(project, mileposts, commit), mileposts.tree_of(commit)
    if found.problem:
        return Standing(commit=commit, tree=tree, problem=found.problem)
    post = found.mileposts[0]
    words = verdict_words(recorded_note(mileposts, post).evidence)
    said = f"milepost {post.task} ({post.commit[:7]}): {words}"
    return Standing(commit=commit, tree=tree, proof=f"{said}, {post.evidence}" if post.evidence else said)
