"""How work comes onto what others did meanwhile: merged trees, an edited roadmap, files that were seen to change."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.attempt import Attempt
from milepost.core.events import ForecastMade
from milepost.core.task import Plan, Task
from milepost.engine.attempt.candidate import ticked
from milepost.engine.budget.forecast import ForecastInputs, forecast_of
from milepost.engine.memory.open_memory import EPISODES_READ, whose
from milepost.engine.records.run_spec import Conflict, Rebased, RunSpec
from milepost.engine.routing.candidates import as_chosen, foretold, known_from
from milepost.engine.services import RunServices
from milepost.workspace.merge import Conflicts, Merged, merge_trees
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
