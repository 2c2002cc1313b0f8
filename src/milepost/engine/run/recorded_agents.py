"""The agents that a record names, when it is used again: a record is no word of a person's.

One that reaches outside is used where this machine's settings name it, where a line of the roadmap was agreed to, or
where its user gave it by hand to a run of this very state.
"""

from __future__ import annotations

from collections.abc import Iterable

from milepost.agents.outside_names import reaches_outside
from milepost.core.errors import AgentUnknown
from milepost.engine.gates.unfinished_run import unfinished
from milepost.engine.planning.make_plan import planned
from milepost.engine.planning.roadmap_reach import agent_line, require_agreed
from milepost.engine.project import consent
from milepost.engine.project.project import Project
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.state_mark import is_vouched, vouch
from milepost.engine.records.run_spec import VERSION, RunSpec
from milepost.engine.records.values_json import load as load_value
from milepost.workspace.mileposts import Mileposts


def note_agents(project: Project, order: RunSpec) -> None:
    """Note whom a person let a run have: it may be resumed or retried with the same."""
    if names := [name for name in order.agents if reaches_outside(name)]:
        vouch(project.state, names)


def note_unfinished(project: Project) -> None:
    """Note whom the unfinished run has, where there is one: a person agreed to it with the state that it is in."""
    record = unfinished(project) if project.database.exists() else None
    if record is not None and record.version == VERSION:
        note_agents(project, load_value(RunSpec, record.order))


def require_agreed_order(project: Project, settings: Settings, order: RunSpec) -> None:
    """Raise where a recorded run names agents, itself or in its roadmap, that reach further than anybody agreed to."""
    mileposts = Mileposts(project.repository.git(project.state / "git"))
    content = mileposts.roadmap_at(order.base, project.roadmap_in_tree) or b""
    require_agreed(project.roadmap, planned(content, order.manner, order.planning).tasks, order.approve)
    require_agreed_names(project, settings, order.agents)


def require_agreed_names(project: Project, settings: Settings, names: Iterable[str]) -> None:
    """Raise where a recorded agent reaches outside of the repository, and nobody here agreed to it."""
    for name in names:
        if not reaches_outside(name) or name in settings.named_agents or is_vouched(project.state, name):
            continue
        if consent.missing(project.roadmap, [agent_line(name)]):
            raise AgentUnknown(
                f"the run before names the agent {name!r}, which has paths outside the repository, and nobody agreed "
                "to it on this machine",
                "if you want it, give it by hand: milepost run --new --agent NAME, or milepost retry TASK --agent NAME",
            )
