"""Marks: names that people give to commits, to come back to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import GitFailed, MarkInvalid, PlaceUnknown
from milepost.engine.planning.make_plan import read_now
from milepost.engine.project.project import Project
from milepost.engine.views.log import all_mileposts
from milepost.engine.views.revisions import MARKS, find_place, mileposts_of

_NAME = re.compile(r"\w(?:[\w.+-]{0,62}\w)?")
_COMMIT = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A name for a commit; `task` is the one whose milepost that is, if any."""

    name: str
    commit: str
    subject: str = ""
    task: str = ""


def name_problem(name: str) -> str:
    """Why a mark cannot have a name; empty when it can."""
    if not _NAME.fullmatch(name):
        return "a mark has letters and digits, with . _ + - between them, at most 64 characters"
    if ".." in name or name.lower().endswith(".lock") or name.upper() == "HEAD":
        return "git reserves this name"
    return "it looks like a commit hash" if _COMMIT.fullmatch(name) else ""


def mark(roadmap: Path | None, name: str, at: str = "") -> Mark:
    """Give a name to a task's milepost, or to the commit that the user stands on; one that is taken is not moved."""
    if problem := name_problem(name):
        raise MarkInvalid(f"{name!r} is not a valid mark name: {problem}", "choose another, such as before-login")
    project = Project.find(roadmap)
    with mileposts_of(project) as mileposts:
        tasks = {one.id.lower() for top in read_now(project).tasks for one in top.walk()}
        tasks |= {name.lower() for post in all_mileposts(project, mileposts) for name in post.tasks}
        if name.lower() in tasks:
            raise MarkInvalid(f"{name!r} is the id of a task", "choose another name for the mark")
        commit = find_place(project, mileposts, at).commit if at else project.repository.position().commit
        there = mileposts.resolve(f"{MARKS}/{name}")
        if there is None:
            try:
                mileposts.move(f"{MARKS}/{name}", commit, "")
            except GitFailed:
                there = mileposts.resolve(f"{MARKS}/{name}")
                if there is None:
                    raise
        if there not in (None, commit):
            raise MarkInvalid(
                f"the mark {name!r} is at {(there or '')[:7]} already",
                f"delete it first: milepost mark {name} --delete",
            )
    return next(one for one in marks(roadmap) if one.name == name)


def marks(roadmap: Path | None) -> tuple[Mark, ...]:
    """All marks of the repository, by name."""
    project = Project.find(roadmap)
    with mileposts_of(project) as mileposts:
        named = mileposts.named(MARKS)
        posts = {post.commit: post.task for post in all_mileposts(project, mileposts)} if named else {}
    return tuple(
        Mark(name=name, commit=commit, subject=subject, task=posts.get(commit, "")) for name, commit, subject in named
    )


def unmark(roadmap: Path | None, name: str) -> Mark:
    """Take a mark away; the commit stays."""
    found = next((one for one in marks(roadmap) if one.name == name), None)
    if found is None:
        raise PlaceUnknown(f"there is no mark {name!r}", "milepost marks lists them")
    with mileposts_of(Project.find(roadmap)) as mileposts:
        mileposts.forget(f"{MARKS}/{name}", found.commit)
    return found
