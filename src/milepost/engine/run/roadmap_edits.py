"""Roadmaps that people edit while a run is on, brought to the run's branch and back."""

from __future__ import annotations

from milepost.core.folder_roadmap import is_of_roadmap
from milepost.engine.attempt.candidate import roadmap_at
from milepost.engine.project.project import read_bytes
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.services import RunServices
from milepost.roadmap import read
from milepost.roadmap.editing.tick import tick_tasks
from milepost.workspace.mileposts import run_branch


def with_roadmap(services: RunServices, order: RunSpec, head: str, edited: bytes) -> str | None:
    """A commit on `head` with a roadmap that its author edited, ticks kept; None where both changed the same lines."""
    began = services.mileposts.tree_of(order.base)
    if roadmap_at(services, order, head) == edited:
        return head
    theirs = services.mileposts.with_roadmap(began, order.roadmap, edited)
    beside = services.mileposts.commit(theirs, order.base, "The roadmap as it is edited\n", order.stamp())
    tree = services.mileposts.merge(head, beside)
    if tree is None:
        tree = _ticked_as_at(services, order, head, services.mileposts.tree_of(head), edited)
    message = f"Follow the roadmap as it was edited\n\nMilepost-Run: {order.run}\n"
    return (
        services.mileposts.commit(tree, head, message, order.stamp())
        if tree != services.mileposts.tree_of(head)
        else head
    )


def with_users_roadmap(services: RunServices, order: RunSpec, head: str, theirs: str) -> str:
    """The head of the run's branch, joined with what the user committed meanwhile, when that is the roadmap alone.

    Nothing but boxes and words of the roadmap is merged, so that all that was verified is as it was.
    """
    mileposts, branch = services.mileposts, run_branch(order.run)
    if head == order.base or mileposts.is_ancestor(theirs, head) or not mileposts.is_ancestor(order.base, theirs):
        return head
    edited = mileposts.roadmap_at(theirs, order.roadmap)
    if edited is None or not _only_roadmap(mileposts.changed_files(order.base, theirs), order.roadmap):
        return head
    message = f"Join the roadmap as you committed it\n\nMilepost-Run: {order.run}\n"
    # All that they did to a folder of tasks comes along, also what is no task in it.
    tree = mileposts.with_entry(mileposts.tree_of(head), order.roadmap, theirs)
    ticked = _ticked_as_at(services, order, head, tree, edited)
    joined = mileposts.join(ticked, (head, theirs), message, order.stamp())
    if mileposts.resolve(branch) == head and not services.project.repository.stands_on(branch):
        mileposts.move(branch, joined, head)
    return joined if mileposts.resolve(branch) == joined else head


def is_followed_edit(services: RunServices, order: RunSpec, head: str) -> bool:
    """Whether nothing but the roadmap differs in the user's tree, and the run's branch has it in the same words."""
    differing = services.project.repository.differing()
    if not differing or not all(is_of_roadmap(path, order.roadmap) for path in differing):
        return False
    edited = read_bytes(services.project.roadmap)
    now = services.mileposts.with_roadmap(services.mileposts.tree_of(head), order.roadmap, edited)
    return services.mileposts.tree_of(head) == _ticked_as_at(services, order, head, now, edited)


def _only_roadmap(changed: tuple[str, ...], roadmap: str) -> bool:
    return bool(changed) and all(path == roadmap or path.startswith(f"{roadmap}/") for path in changed)


def _ticked_as_at(services: RunServices, order: RunSpec, head: str, tree: str, edited: bytes) -> str:
    """The tree with an edited roadmap, in which is ticked what the run has ticked up to its head, and nothing else."""
    ours = read(roadmap_at(services, order, head), order.manner).tasks
    began = read(roadmap_at(services, order, order.base), order.manner).tasks
    before = {task.id for top in began for task in top.walk() if task.status == "done"}
    done = [task for top in ours for task in top.walk() if task.status == "done" and task.id not in before]
    edited, _ = tick_tasks(edited, done, ours, order.manner)
    return services.mileposts.with_roadmap(tree, order.roadmap, edited)
