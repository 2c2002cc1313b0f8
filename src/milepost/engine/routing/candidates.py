"""Among whom the router chooses, and whom it would choose for a roadmap as things stand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost.core.errors import AgentUnknown, MilepostError
from milepost.core.events import AgentChosen
from milepost.core.memories import Took
from milepost.core.own_files import SETTINGS_FILE
from milepost.core.task import Plan, Task
from milepost.engine.project.project import state_of
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_spec import AUTO, ROUTED, Routing
from milepost.engine.routing.choose import Choice, RoutingQuestion, choose
from milepost.engine.routing.track_record import AgentResult, trials_of
from milepost.plan.advice.traits import traits_of
from milepost.store.database import open_database

if TYPE_CHECKING:
    from milepost.engine.project.settings.agents import RouterSettings

_RUNS_LOOKED_AT = 20


def routing_of(router: RouterSettings, require: Callable[[str], object]) -> Routing:
    """Among whom is chosen, of those that the settings name; `require` raises for one that cannot work here.

    Whom the settings fix for some tasks must be able to work: nobody else was asked for.
    """
    named = tuple(dict.fromkeys(router.agents))
    if not named:
        raise AgentUnknown(
            f"the agent is {AUTO!r}, but there are no agents to choose from",
            'name them: agents = ["tool", "command:…"] under [router] in milepost.toml',
        )
    for name in dict.fromkeys(router.fixed.values()):
        require(name)
    problems = {name: _problem_with(name, require) for name in named}
    left_out = tuple((name, problem) for name, problem in problems.items() if problem)
    able = tuple(name for name in named if not problems[name])
    if not able:
        reasons = "; ".join(f"{name}: {problem}" for name, problem in left_out)
        raise AgentUnknown(
            f"none of the agents under [router] can work here: {reasons}",
            "set one of them up, or name another; milepost doctor shows more",
        )
    return Routing(
        mode=router.mode,
        agents=able,
        fixed={str(trait): name for trait, name in router.fixed.items()},
        explore=router.explore,
        left_out=left_out,
    )


def _problem_with(name: str, require: Callable[[str], object]) -> str:
    if name.strip() in ROUTED:
        return f"{AUTO!r} cannot choose itself"
    try:
        require(name)
    except MilepostError as error:
        return error.message
    return ""


def is_routed(task: Task, agent: str) -> bool:
    """Whether somebody must be chosen for a task in a run by `agent`."""
    return (task.agent or agent) in ROUTED


def last_in_turn(journal: Journal, run: str = "") -> str:
    """Whose turn it was last in the runs before this one; empty where nobody's was."""
    before = (record.run for record in journal.runs() if record.run != run and _took_turns(record.order))
    for earlier in islice(before, _RUNS_LOOKED_AT):
        for entry in reversed(journal.events(earlier)):
            if isinstance(entry.event, AgentChosen) and entry.event.mode == "round-robin" and entry.event.task:
                return entry.event.agent
    return ""


def _took_turns(order: Mapping[str, Any]) -> bool:
    return (order.get("routing") or {}).get("mode") == "round-robin"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingFacts:
    """What a choice is made from beside the task: where it stands, how agents fared, and whose turn it was last."""

    folder: Path
    trials: tuple[AgentResult, ...] = ()
    last: str = ""


def foretold(plan: Plan, wanted: Iterable[str], agent: str, routing: Routing, known: RoutingFacts) -> dict[str, Choice]:
    """Whom the router would choose for the wanted tasks of a plan, nothing left to chance."""
    choices: dict[str, Choice] = {}
    last = known.last
    for task in map(plan.task, wanted):
        if is_routed(task, agent):
            busy = tuple(choice.agent for choice in choices.values())
            asked = RoutingQuestion(
                routing=routing,
                traits=traits_of(task),
                trials=known.trials,
                pattern=pattern_for(task, known.folder),
                last=last,
                busy=busy,
            )
            choices[task.id] = choice = choose(asked)
            last = choice.agent if choice.mode == "round-robin" else last
    return choices


def foretell(roadmap: Path, plan: Plan) -> dict[str, Choice]:
    """Whom the router would choose for the open tasks of a roadmap; nobody where all of them are named."""
    if not _may_be_routed(roadmap, plan):
        return {}
    from milepost.engine.agents.factory import make_agent
    from milepost.engine.memory.open_memory import took_here
    from milepost.engine.project.settings.load import load

    settings = load(roadmap.parent)
    wanted = [name for wave in plan.waves for name in wave]
    if not any(is_routed(plan.task(name), settings.run.agent) for name in wanted):
        return {}
    routing = routing_of(settings.router, lambda name: make_agent(name, settings, roadmap.parent))
    path = state_of(roadmap) / "milepost.db"
    with closing(open_database(path if path.exists() else ":memory:")) as database:
        return foretold(
            plan,
            wanted,
            settings.run.agent,
            routing,
            known_from(roadmap.parent, took_here(roadmap, database), Journal(database)),
        )


def known_from(folder: Path, episodes: Iterable[Took], journal: Journal, run: str = "") -> RoutingFacts:
    """What is known before `run`, or now; `folder` is the roadmap's."""
    return RoutingFacts(folder=folder, trials=trials_of(episodes), last=last_in_turn(journal, run))


def as_chosen(plan: Plan, choices: Mapping[str, Choice]) -> Plan:
    """The plan with each task done by whom the router would choose."""
    tasks = (replace(task, agent=choices[task.id].agent) if task.id in choices else task for task in plan.tasks)
    return replace(plan, tasks=tuple(tasks))


def _may_be_routed(roadmap: Path, plan: Plan) -> bool:
    """Whether it is worth reading the settings, which takes its time: `auto` is written somewhere."""
    if os.environ.get("MILEPOST_AGENT") == AUTO or any(task.agent in ROUTED for task in plan.tasks):
        return True
    try:
        return AUTO.encode() in (roadmap.parent / SETTINGS_FILE).read_bytes()
    except OSError:
        return False


def pattern_for(task: Task, folder: Path) -> str:
    """The one pattern that takes exactly the inputs of a task, as the name of an agent; empty where not one does."""
    if not task.inputs:
        return ""
    from milepost.agents.patterns.matching import matching
    from milepost.agents.patterns.registry import known_patterns
    from milepost.engine.agents.patterns import pattern_setup
    from milepost.engine.project.settings.load import load

    folders = tuple(load(folder).patterns.folders)
    name = matching(dict(task.inputs), known_patterns(folder, pattern_setup(folders)))
    return f"pattern:{name}" if name else ""
