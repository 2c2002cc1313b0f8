"""Looking again at what was tried: every attempt at a task, and what differs between two places."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import TaskUnknown
from milepost.core.verdict import Verdict
from milepost.engine.project.project import Project
from milepost.engine.views.log import all_mileposts, milepost_of
from milepost.engine.views.revisions import AttemptRevision, attempts_of, find_place, mileposts_of
from milepost.workspace.mileposts import Milepost, Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One attempt at a task. `name` is what other commands know it by; `milepost` is the commit that came of it.

    `kept` is false once its files were cleaned away; `ref` is where they are until then.
    """

    name: str
    task: str
    run: str
    number: int
    agent: str
    verdict: Verdict
    reason: str
    cost_usd: float
    duration_ms: int
    base: str
    commit: str
    ref: str
    kept: bool
    milepost: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What differs between two places, as a patch that git applies or as a table of sizes."""

    old: str
    new: str
    files: tuple[str, ...]
    patch: bytes


def attempts(roadmap: Path | None, task: str) -> tuple[Tried, ...]:
    """Every attempt at a task in every run, failed or not, oldest first."""
    project = Project.find(roadmap)
    with mileposts_of(project) as mileposts:
        found = attempts_of(project, task)
        if not found:
            task, _ = milepost_of(project, mileposts, task)
            found = attempts_of(project, task)
        if not found:
            raise TaskUnknown(
                f"there is no attempt at task {task!r}", "milepost plan lists the tasks, milepost run tries them"
            )
        posts = [post for post in all_mileposts(project, mileposts) if post.ends(task)]
        return tuple(_tried(one, found[-1].run, posts, mileposts) for one in found)


def diff(roadmap: Path | None, place: str, other: str = "", *, stat: bool = False) -> Difference:
    """What a place changed, or what differs between two of them."""
    project = Project.find(roadmap)
    with mileposts_of(project) as mileposts:
        first = find_place(project, mileposts, place)
        old, new = (
            (first.commit, find_place(project, mileposts, other).commit) if other else (first.before, first.commit)
        )
        old = old or mileposts.empty_tree()
        return Difference(
            old=old, new=new, files=mileposts.changed_files(old, new), patch=mileposts.patch(old, new, stat=stat)
        )


def _tried(one: AttemptRevision, newest_run: str, posts: list[Milepost], mileposts: Mileposts) -> Tried:
    attempt, task = one.attempt, one.task
    made = next((post.commit for post in posts if (post.run, post.attempt) == (one.run, attempt.number)), "")
    return Tried(
        name=f"{task}#{attempt.number}" if one.run == newest_run else f"{task}#{one.run}/{attempt.number}",
        task=task,
        run=one.run,
        number=attempt.number,
        agent=attempt.agent,
        verdict=attempt.evidence.verdict,
        reason=attempt.evidence.reason,
        cost_usd=attempt.outcome.cost_usd,
        duration_ms=attempt.duration_ms,
        base=attempt.base,
        commit=attempt.commit,
        ref=one.ref,
        kept=mileposts.resolve(attempt.commit) is not None,
        milepost=made,
    )
