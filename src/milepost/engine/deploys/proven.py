"""Whether a commit may be deployed: its tree is a milepost's, and every milepost before it still has its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.approval import verdict_words
from milepost.core.errors import MilepostError
from milepost.engine.project.project import Project
from milepost.engine.records.milepost_note import recorded_note
from milepost.engine.views.log import of_this_roadmap
from milepost.workspace.mileposts import Milepost, Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What speaks for a commit; `problem` is why it is not proven, empty when it is."""

    commit: str
    tree: str
    proof: str = ""
    problem: str = ""


def standing_of(project: Project, mileposts: Mileposts, commit: str) -> Standing:
    """Look at every milepost in the history of a commit, and at the one whose tree it has."""
    tree = mileposts.tree_of(commit)
    posts = of_this_roadmap(project, mileposts.history(commit))
    own = next((post for post in posts if mileposts.tree_of(post.commit) == tree), None)
    problem = next(filter(None, (_problem(mileposts, post) for post in posts)), "")
    if own is None:
        last = f"the last is {posts[0].task} ({posts[0].commit[:7]})" if posts else "there is none before it"
        return Standing(commit=commit, tree=tree, problem=f"{commit[:7]} is no milepost: {last}")
    if problem:
        return Standing(commit=commit, tree=tree, problem=problem)
    note = recorded_note(mileposts, own)
    if note.evidence.tree != tree:
        return Standing(commit=commit, tree=tree, problem=f"the note of {own.task} belongs to another tree")
    said = f"milepost {own.task} ({own.commit[:7]}): {verdict_words(note.evidence)}"
    return Standing(commit=commit, tree=tree, proof=f"{said}, {own.evidence}" if own.evidence else said)


def _problem(mileposts: Mileposts, post: Milepost) -> str:
    """Why a milepost does not hold; empty when it does."""
    try:
        note = recorded_note(mileposts, post)
    except MilepostError as error:
        return error.message
    return f"{post.task} on {post.commit[:7]}: {note.problem}" if note.problem else ""
