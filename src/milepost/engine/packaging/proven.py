"""Whether a commit is proven: it is what a milepost made it, and every milepost below it holds."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.approval import may_land
from milepost.core.errors import MilepostError
from milepost.core.folder_roadmap import is_of_roadmap
from milepost.engine.project.project import Project
from milepost.engine.records.milepost_note import recorded_note
from milepost.engine.views.log import of_this_roadmap
from milepost.workspace.mileposts import Milepost, Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The mileposts that a commit contains, newest first, and why it is not proven; empty where it is.

    `last` is the newest commit that could be proven in its place.
    """

    mileposts: tuple[Milepost, ...]
    problem: str = ""
    last: str = ""


def standing_of(project: Project, mileposts: Mileposts, commit: str) -> Standing:
    """What the mileposts in the history of a commit say about it."""
    posts = of_this_roadmap(project, mileposts.history(commit))
    if not posts:
        return Standing(mileposts=(), problem=f"{commit[:7]} contains no milepost of {project.roadmap_in_tree}")
    for post in posts:
        if problem := _problem(mileposts, post):
            return Standing(mileposts=posts, problem=problem)
    last = posts[0].commit
    changed = mileposts.changed_files(last, commit) if last != commit else ()
    others = [path for path in changed if not is_of_roadmap(path, project.roadmap_in_tree)]
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        problem = f"{others[0]}{more} changed after the last milepost, {posts[0].task} on {last[:7]}"
        return Standing(mileposts=posts, problem=problem, last=last)
    return Standing(mileposts=posts)


def _problem(mileposts: Mileposts, post: Milepost) -> str:
    """Why a milepost does not hold; empty where it does."""
    try:
        note = recorded_note(mileposts, post)
    except MilepostError as error:
        return error.message
    where = f"milepost {post.task} on {post.commit[:7]}"
    if note.problem:
        return f"{where} does not hold: {note.problem}"
    if note.evidence.tree and note.evidence.tree != mileposts.tree_of(post.commit):
        return f"{where} does not hold: its evidence is about another tree"
    return "" if may_land(note.evidence) else f"{where} does not hold: it is {note.evidence.verdict}"
