"""How work comes onto what others did meanwhile: merged trees, an edited roadmap, files that were seen to change."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.attempt import Attempt
from milepost.core.events import ForecastMade
from milepost.core.folder_roadmap import is_of_roadmap
from milepost.core.task import Plan, Task
from milepost.engine.attempt.assignment import roadmap_at, ticked
from milepost.engine.budget.forecast import ForecastInputs, forecast_of
from milepost.engine.memory.open_memory import EPISODES_READ, whose
from milepost.engine.project.project import read_bytes
from milepost.engine.records.run_spec import Conflict, Rebased, RunSpec
from milepost.engine.routing.candidates import as_chosen, foretold, known_from
from milepost.engine.services import RunServices
from milepost.roadmap import read
from milepost.roadmap.editing.tick import tick_tasks
from milepost.workspace.merge import Conflicts, Merged, merge_trees
from milepost.workspace.mileposts import run_branch
from milepost.workspace.reconcile.conflict_text import conflict_evidence
from milepost.workspace.reconcile.update_locks import renewed

RENEWAL_S = 120.0


def on_top_of(services: RunServices, order: RunSpec, task: Task, attempt: Attempt, head: str) -> Rebased | Conflict:
    """The attempt's work on `head`, with the box ticked, as a commit; or on which lines both differ."""
    merged = merge_trees(services.mileposts, head, attempt.commit)
    if isinstance(merged, Merged) and merged.renewals:
        merged = _renewed(services, f"{order.run}-{task.id}-renew", head, merged)
    if isinstance(merged, Conflicts):
        return Conflict(paths=merged.paths, shown=services.redact(conflict_evidence(merged)))
    if merged.renewals:
        return Conflict(paths=tuple(renewal.path for renewal in merged.renewals))
    tree = services.mileposts.with_roadmap(merged.tree, order.roadmap, ticked(services, order, task, head))
    message = f"{task.id}: {task.title}\n\nOn top of {head[:12]}, not landed.\n"
    commit = services.mileposts.commit(tree, head, message, order.stamp())
    return Rebased(commit=commit, tree=tree, reconciled=merged.reconciled)


def _renewed(services: RunServices, name: str, head: str, merged: Merged) -> Merged:
    """The merged tree with its lock files written anew by their own tools, in the sandbox, where they can."""
    workspace = services.checkouts.make(name, head, tree=merged.tree)
    tree = renewed(merged, workspace, services.terminal, services.mileposts, timeout_s=RENEWAL_S)
    services.checkouts.drop(name)
    return merged if tree is None else replace(merged, tree=tree, renewals=())


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


def observed_before(services: RunServices, plan: Plan, wanted: tuple[str, ...]) -> dict[str, list[str]]:
    """The files that attempts of earlier runs changed, for tasks that do not say which they change."""
    observed = {}
    for task in plan.tasks:
        if task.id in wanted and not task.files and (run := services.books.journal.last_run_of(task.id)) is not None:
            last = services.books.journal.attempts(run, task.id)[-1]
            if services.mileposts.resolve(last.commit) and services.mileposts.resolve(last.base):
                observed[task.id] = list(services.mileposts.changed_files(last.base, last.commit))
    return observed


def foreseen(services: RunServices, plan: Plan, order: RunSpec) -> ForecastMade | None:
    """What the run is expected to take, told once at its start; None where nothing similar was done yet."""
    facts = ForecastInputs(agent=order.agent, parallel=order.parallel)
    episodes = services.books.memory.journal.took(EPISODES_READ, project=whose(services.settings, order.memory.project))
    if order.routing is not None:
        known = known_from(services.project.roadmap.parent, episodes, services.books.journal, order.run)
        plan = as_chosen(plan, foretold(plan, order.tasks, order.agent, order.routing, known))
    made = forecast_of(plan, order.tasks, facts, episodes)
    return None if made is None else made.event(order.run)
