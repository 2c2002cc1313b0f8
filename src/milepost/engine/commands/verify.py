"""Verifying by hand: what is in the user's folder now, or a milepost once more. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.errors import TaskUnknown
from milepost.core.task import Task
from milepost.core.task_parts import parts_of
from milepost.core.verdict import Evidence
from milepost.engine.planning.make_plan import planned, ways_of
from milepost.engine.project.project import Project, read_bytes
from milepost.engine.records.milepost_note import recorded_note
from milepost.engine.records.run_spec import PARTS, Candidate
from milepost.engine.verification.review import NAME as OPINION
from milepost.engine.verification.setup import setup_by_hand
from milepost.engine.verification.verifier import OnCheck, Verifier
from milepost.engine.views.log import milepost_of
from milepost.plan.graph.groups import as_one
from milepost.verify.checks.independent import NAME as INDEPENDENT
from milepost.verify.compare_evidence import Comparison, compared
from milepost.workspace.mileposts import Milepost, Mileposts

_NOT_AGAIN = (OPINION, INDEPENDENT)  # an opinion decides nothing, and a tester's tests are gone with their run


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What the checks say about the files as they are now, seen as a change of `base`."""

    task: str
    title: str
    base: str
    changed: tuple[str, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A milepost's evidence as it was kept and as it was found again; `note` is what is wrong with the kept one."""

    milepost: Milepost
    evidence: Evidence
    comparisons: tuple[Comparison, ...]
    note: str = ""

    @property
    def same(self) -> bool:
        return not self.note and all(one.same for one in self.comparisons)


def verify_now(roadmap: Path | None, task: str | None, on_check: OnCheck) -> Verified:
    """Put the checks to the user's folder as it is, as a change of their last commit; `task` adds its own."""
    project = Project.find(roadmap)
    job = _task(project, read_bytes(project.roadmap), task) if task else _no_task()
    with opened(project) as (mileposts, examiner, own):
        base = project.repository.position().commit
        tree = project.repository.snapshot(project.repository.git(own / "git"), own)
        changed = mileposts.changed_files(base, tree)
        candidate = Candidate(attempt=1, agent="", base=base, tree=tree, changed=changed)
        evidence = examiner.examine(job, candidate, project.roadmap_in_tree, "now", on_check)
    return Verified(task=job.id, title=job.title, base=base, changed=changed, evidence=evidence)


def replay(roadmap: Path | None, task: str, on_check: OnCheck) -> Replayed:
    """Ask of a milepost's tree all that was asked before, and compare; an opinion decides nothing: it is left out."""
    project = Project.find(roadmap)
    with opened(project) as (mileposts, examiner, _):
        _, post = milepost_of(project, mileposts, task)
        if post is None:
            raise TaskUnknown(f"there is no milepost of task {task!r}", "milepost log lists the mileposts")
        kept = recorded_note(mileposts, post)
        base, tree = mileposts.parent_of(post.commit), mileposts.tree_of(post.commit)
        content = mileposts.roadmap_at(base, project.roadmap_in_tree) or b""
        jobs = [_task(project, content, name) for name in post.tasks]
        job = as_one(jobs) if post.members else jobs[0]
        if post.agent == PARTS:
            job = replace(job, changes_nothing=True)
        candidate = Candidate(
            attempt=post.attempt,
            agent=post.agent,
            base=base,
            tree=tree,
            changed=mileposts.changed_files(base, tree),
            corrections=kept.corrections,
        )
        evidence = examiner.examine(job, candidate, project.roadmap_in_tree, "replay", on_check)
    problem = kept.problem or ("" if kept.evidence.tree == tree else "the note belongs to another tree")
    found_again = replace(
        kept.evidence, checks=tuple(check for check in kept.evidence.checks if check.name not in _NOT_AGAIN)
    )
    return Replayed(milepost=post, evidence=evidence, comparisons=compared(found_again, evidence), note=problem)


@contextmanager
def opened(project: Project) -> Iterator[tuple[Mileposts, Verifier, Path]]:
    """An examiner of its own, beside whatever run is going on: nothing of the state is written but logs."""
    with (
        setup_by_hand(project) as (ground, own),
        ThreadPoolExecutor(1) as ahead,
        ground.open_terminal() as sandbox,
    ):
        mileposts = ground.mileposts
        yield mileposts, ground.examiner(sandbox, mileposts, ahead, None), own


def _task(project: Project, content: bytes, task: str) -> Task:
    """A task, a subtask, or a part that a task was done in, by its id."""
    manner, planning = ways_of(project.roadmap)
    tasks = planned(content, manner, replace(planning, grouping="none")).tasks
    known = (one for top in tasks for one in (*top.walk(), *parts_of(top)))
    found = next((one for one in known if one.id.lower() == task.lower()), None)
    if found is None:
        raise TaskUnknown(f"there is no task {task!r} in the roadmap", "milepost plan lists the tasks")
    return found


def _no_task() -> Task:
    return Task(id="", title="", status="open", line=0, changes_nothing=True, tests_may_change=True)
