"""The roadmap, git and the database brought to agree: boxes follow the mileposts of the branch, the rest is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from milepost.core.events import MilepostMade
from milepost.engine.authoring.mismatches import Mismatch, RoadmapFacts, mismatches
from milepost.engine.authoring.write_file import rewrite
from milepost.engine.planning.make_plan import manner_here
from milepost.engine.planning.renamed_tasks import roadmaps_of
from milepost.engine.project.project import Project, read_bytes
from milepost.engine.project.state_lock import holder_of
from milepost.engine.records.journal import Journal
from milepost.engine.records.unmerged_run import run_ahead
from milepost.engine.views.log import of_this_roadmap
from milepost.engine.views.revisions import mileposts_of
from milepost.roadmap.reading.box import with_boxes
from milepost.roadmap.reading.options import Manner
from milepost.roadmap.reading.read import survey
from milepost.workspace.mileposts import Milepost, Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What did not agree, and whether the roadmap was changed; `would` says that it was only looked at, and why."""

    branch: str
    commit: str
    mismatches: tuple[Mismatch, ...]
    changed: bool
    would: str = ""


def sync(roadmap: Path | None, *, dry_run: bool) -> Synced:
    """Tick what has a milepost in the branch, open what was taken back there, and say what else does not agree."""
    project = Project.find(roadmap)
    user, manner = project.repository.position(), manner_here(project)
    would = "nothing was changed: --dry-run" if dry_run else ""
    if not would and (holder := holder_of(project.state)) is not None:
        would = f"nothing was changed: run {holder.run} is in progress and updates the roadmap itself"
    with mileposts_of(project) as mileposts:
        history = _History(project, mileposts, user.commit, manner)
        found = mismatches(history.facts(read_bytes(project.roadmap)))
        changed = False
        if not would:
            changed = rewrite(project.roadmap, lambda content: _agreeing(content, history, manner))
        elsewhere = tuple(_elsewhere(project, mileposts, history.landed))
    return Synced(
        branch=user.branch or "HEAD",
        commit=user.commit,
        mismatches=(*found, *elsewhere),
        changed=changed,
        would=would,
    )


class _History:
    """What the user's branch says about the tasks of a roadmap."""

    def __init__(self, project: Project, mileposts: Mileposts, commit: str, manner: Manner) -> None:
        self.landed = of_this_roadmap(project, mileposts.history(commit))
        undone = mileposts.taken_back(commit)
        ours = {post.commit for post in of_this_roadmap(project, tuple(post for post, _ in undone))}
        self.taken_back = tuple((post, by) for post, by in undone if post.commit in ours)
        self._roadmaps = roadmaps_of(project, mileposts, manner)
        self._manner = manner

    def facts(self, content: bytes) -> RoadmapFacts:
        """The same beside a roadmap's content."""
        read = survey(content, self._manner)
        tasks = read.roadmap.tasks
        posts = (*self.landed, *(post for post, _ in self.taken_back))
        names = {
            (post.commit, task): name
            for post in posts
            for task in post.tasks
            if (name := self._roadmaps.name_now(post, task, tasks)) is not None
        }
        titles = {one.id: one.title for top in tasks for one in top.walk()}
        alike = {
            (commit, task)
            for post in posts
            for commit, task in ((post.commit, task) for task in post.tasks if (post.commit, task) in names)
            if names[commit, task].lower() != task.lower()
            and titles[names[commit, task]] not in (post.title, self._roadmaps.title_at(task, f"{commit}^"))
        }
        return RoadmapFacts(
            tasks=tasks,
            landed=self.landed,
            taken_back=self.taken_back,
            names=names,
            alike=frozenset(alike),
            boxes=frozenset(read.boxes),
            parents=self._manner.parents,
        )


def _agreeing(content: bytes, history: _History, manner: Manner) -> bytes:
    """The roadmap in which the boxes are as the branch says."""
    found = mismatches(history.facts(content))
    boxes = survey(content, manner).boxes
    done = {one.task: one.kind == "ticked" for one in found if one.kind in ("ticked", "opened")}
    return with_boxes(content, {boxes[task]: is_done for task, is_done in done.items() if task in boxes})


def _elsewhere(project: Project, mileposts: Mileposts, landed: Sequence[Milepost]) -> Iterator[Mismatch]:
    """What the database knows of and the branch does not have."""
    user = project.repository.position()
    with Journal.look(project.database) as journal:
        records = [one for one in journal.runs() if one.order["roadmap"] == project.roadmap_in_tree]
        ahead = run_ahead(tuple(records), mileposts, user)
        if ahead is not None:
            many = len(mileposts.history(ahead.tip, since=user.commit))
        if ahead is not None and many:
            what = f"run {ahead.run} has {many} more on {ahead.branch}: git merge --ff-only {ahead.branch}"
            yield Mismatch(kind="not merged", what=what)
        for record in records:
            if record.unfinished and holder_of(project.state) is None:
                yield Mismatch(kind="not over", what=f"run {record.run} was interrupted: milepost resume")
        there = {task.lower() for post in landed for task in post.tasks}
        undone = mileposts.undone(user.commit)
        for record in records:
            made = (entry.event for entry in journal.events(record.run) if isinstance(entry.event, MilepostMade))
            for event in made:
                lost = event.task.lower() not in there and event.commit not in undone
                if lost and not _is_kept(mileposts, event.commit, (user.commit, ahead.tip if ahead else "")):
                    yield _lost(mileposts, event)


def _is_kept(mileposts: Mileposts, commit: str, tips: Sequence[str]) -> bool:
    known = mileposts.resolve(commit) is not None
    return known and any(tip and mileposts.is_ancestor(commit, tip) for tip in tips)


def _lost(mileposts: Mileposts, event: MilepostMade) -> Mismatch:
    where = f"its milepost {event.commit[:7]} of run {event.run} is on no branch that counts here"
    if mileposts.resolve(event.commit) is None:
        return Mismatch(kind="lost", task=event.task, what=f"{where}, and its files were deleted")
    return Mismatch(kind="lost", task=event.task, what=f"{where}: git branch kept-{event.task} {event.commit[:7]}")
