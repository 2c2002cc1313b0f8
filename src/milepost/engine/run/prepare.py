"""Preparing a run: whether it can start, what it would do, and from which commit. Changes nothing."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from milepost.core.errors import (
    AgentUnknown,
    BranchInTheWay,
    PlanInvalid,
    RoadmapGuessed,
    RoadmapNotCommitted,
    SettingInvalid,
    TaskUnknown,
)
from milepost.core.ports import Agent
from milepost.core.secrets.redact import Redactor
from milepost.core.task import Plan, Task
from milepost.engine.agents.factory import agent_name, make_agent
from milepost.engine.context.build_context import bounds_of
from milepost.engine.gates.open_held import held_tasks
from milepost.engine.memory.episodes import project_in_memory
from milepost.engine.planning.make_plan import ended_for, ended_in, manner_of, planned, planning_of
from milepost.engine.planning.other_projects import with_elsewhere
from milepost.engine.planning.repository_facts import ground_at
from milepost.engine.planning.roadmap_reach import require_agreed
from milepost.engine.project.project import Project, read_bytes
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.settings.settings import Settings, budget_of
from milepost.engine.records.call_log import CallLog
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_request import NothingToDo, RunRequest
from milepost.engine.records.run_spec import ROUTED, Remembering, Repairs, Routing, RunSpec
from milepost.engine.records.unmerged_run import run_ahead
from milepost.engine.routing.candidates import pattern_for, routing_of
from milepost.engine.terminals.interpreter import require_interpreter
from milepost.engine.terminals.isolation import Isolation, hold_for
from milepost.engine.verification.hidden_folder import refuse_known_tests
from milepost.memory.recall.semantic import open_meaning
from milepost.plan.graph.schedule import blocked
from milepost.plan.options import Planning
from milepost.plan.projects.cross_project_waits import met
from milepost.plan.repository_facts import RepositoryFacts
from milepost.workspace.mileposts import Mileposts, run_branch
from milepost.workspace.repository import Position


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRequest:
    """A run that can start: all that can be known before the state directory is locked.

    `held` are tasks that it leaves alone: a person was asked about their work, and has not answered.
    """

    user: Position
    hold: Isolation
    wish: RunRequest
    routing: Routing | None = None
    held: tuple[str, ...] = ()


def draft(
    project: Project, settings: Settings, wish: RunRequest, agents: Mapping[str, Agent]
) -> CheckedRequest | NothingToDo:
    """What a run would need, or the first thing that stands in its way."""
    user = project.repository.position()
    manner, planning = manner_of(settings, project.roadmap), _planning(settings, wish)
    plan = planned(read_bytes(project.roadmap), manner, planning, ended=ended_for(project))
    refuse_invalid(with_elsewhere(plan, project.roadmap))
    _refuse_uncommitted(project)
    refuse_known_tests(settings.verify.hidden, project)
    if project.repository.has_branch("milepost"):
        raise BranchInTheWay(
            "a branch named 'milepost' prevents git from creating branches milepost/<run>",
            "rename it: git branch -m milepost another-name",
        )
    with Journal.look(project.store) as journal:
        held = () if wish.tasks else held_tasks(project, journal, plan.tasks)
    chosen = choose(plan, wish, held)
    if not chosen:
        return NothingToDo(reason=_why_nothing(plan, held), held=held)
    _refuse_guesses(plan, chosen, settings, project)
    require_agreed(project.roadmap, plan.tasks, settings.run.approve)
    if settings.memory.semantic and settings.memory.mode != "off":
        open_meaning()  # raises where its packages are missing
    hold = hold_for(settings)
    require_interpreter(project.repository.top, settings)
    named = [agent_name(plan.task(task_id), settings.run.agent) for task_id in chosen]
    routing = None
    if ROUTED & set(named):
        for name in (*settings.router.agents, *settings.router.fixed.values()):
            refuse_secret(name, settings)
        left = (task for task in map(plan.task, chosen) if agent_name(task, settings.run.agent) in ROUTED)
        if all(pattern_for(task, project.roadmap.parent) for task in left) and not settings.router.agents:
            routing = Routing(mode=settings.router.mode, agents=())  # patterns do all that is left to the router
        else:
            routing = routing_of(settings.router, lambda name: require_agent(name, settings, project, agents))
    own = (name for name in named if name not in ROUTED)
    testers = filter(None, (settings.verify.tester,))
    for name in dict.fromkeys((*own, *settings.repair.fallback, *_reviewers(settings), *testers)):
        require_agent(name, settings, project, agents)
    return CheckedRequest(user=user, hold=hold, wish=wish, routing=routing, held=held)


def order(project: Project, settings: Settings, drafted: CheckedRequest, journal: Journal) -> RunSpec | NothingToDo:
    """The order of a new run, complete with its base and its id."""
    mileposts = Mileposts(project.repository.git(project.state / "git"))
    ahead = run_ahead(journal.runs(), mileposts, drafted.user)
    base = ahead.tip if ahead is not None else drafted.user.commit
    content = mileposts.roadmap_at(base, project.roadmap_in_tree) or b""
    manner, planning = manner_of(settings, project.roadmap), _planning(settings, drafted.wish)
    ended = ended_in(mileposts, base, project.roadmap_in_tree)

    def look(tasks: Sequence[Task]) -> RepositoryFacts:
        return ground_at(tasks, mileposts, base, planning)

    plan = planned(content, manner, planning, look=look, ended=ended)
    # An earlier run's branch, which this one goes on from, may say otherwise than the user's.
    require_agreed(project.roadmap, plan.tasks, settings.run.approve)
    tasks = choose(plan, drafted.wish, drafted.held)
    if not tasks and ahead is not None:
        return NothingToDo(
            reason=f"all that was asked for is done on {ahead.branch}; "
            f"take it in: git merge --ff-only {ahead.branch}   or drop it: git branch -D {ahead.branch}"
        )
    limits = settings.limits
    return RunSpec(
        run=_new_run_id(journal, mileposts),
        roadmap=project.roadmap_in_tree,
        base=base,
        ahead=ahead.branch if ahead is not None else "",
        user=drafted.user,
        tasks=tasks,
        wished=drafted.wish.tasks,
        max_tasks=drafted.wish.max_tasks,
        agent=settings.run.agent,
        trust=drafted.hold.level,
        downgraded=drafted.hold.downgraded,
        parallel=settings.run.parallel,
        attempts=limits.attempts,
        task_timeout_s=limits.task_timeout_s,
        idle_timeout_s=limits.idle_timeout_s,
        check_timeout_s=limits.check_timeout_s,
        identity=project.repository.identity(),
        started_at=int(time.time()),
        repairs=Repairs(
            mode=settings.repair.mode,
            recipes=settings.repair.recipes,
            packages=tuple(settings.repair.packages),
            fallback=tuple(settings.repair.fallback),
        ),
        checks=settings.verify.model_dump(mode="json"),
        sandbox=settings.sandbox.model_dump(mode="json"),
        ordered=settings.run.ordered,
        approve=settings.run.approve,
        budget=budget_of(settings),
        held=drafted.wish.held,
        routing=drafted.routing,
        manner=manner,
        planning=planning,
        met=tuple(dict.fromkeys((*drafted.wish.met, *met(with_elsewhere(plan, project.roadmap))))),
        context=bounds_of(settings, CallLog(journal.database)),
        memory=_remembering(project, settings, base),
        not_started=drafted.held,
    )


def _remembering(project: Project, settings: Settings, base: str) -> Remembering:
    """How a new run remembers; `token` is its own alone."""
    given = settings.memory
    return Remembering(
        mode=given.mode,
        project=project_in_memory(project, given.project, base) if given.mode != "off" else "",
        token=secrets.token_hex(8),
        holdout=given.holdout,
        semantic=given.semantic and given.mode != "off",
        distil_with=given.distil_with,
    )


def _planning(settings: Settings, wish: RunRequest) -> Planning:
    """How the plan of a run is made: tasks that were asked for by name are not put together with others."""
    planning = planning_of(settings)
    return replace(planning, grouping="none") if wish.tasks else planning


def choose(plan: Plan, wish: RunRequest, held: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The open tasks that a run is asked for, in the order they may start; none where all wait for `held` ones."""
    known = {task.id.lower(): task.id for task in plan.tasks}
    for task_id in wish.tasks:
        if task_id.lower() not in known:
            raise TaskUnknown(f"there is no task {task_id!r} in the roadmap", "milepost plan lists the tasks")
    named = {known[task_id.lower()] for task_id in wish.tasks}
    chosen = [task_id for wave in plan.waves for task_id in wave if not named or task_id in named]
    chosen = [task_id for task_id in chosen if task_id not in held]
    if held and set(chosen) <= blocked(plan, frozenset(held)).keys():
        return ()
    return tuple(chosen if wish.max_tasks is None else chosen[: wish.max_tasks])


def refuse_invalid(plan: Plan) -> None:
    """Raise on what makes a plan impossible to follow."""
    fatal = [problem for problem in plan.problems if problem.fatal]
    if fatal:
        more = f" (and {len(fatal) - 1} more)" if len(fatal) > 1 else ""
        raise PlanInvalid(
            f"line {fatal[0].line}: {fatal[0].message}{more}", "fix the roadmap; milepost plan shows every problem"
        )


def _new_run_id(journal: Journal, mileposts: Mileposts) -> str:
    """A short id that no run here has had."""
    taken = {record.run for record in journal.runs()}
    while True:
        run_id = secrets.token_hex(2)
        if run_id not in taken and mileposts.resolve(run_branch(run_id)) is None:
            return run_id


def _refuse_guesses(plan: Plan, chosen: tuple[str, ...], settings: Settings, project: Project) -> None:
    """Raise where a rule of thumb found the tasks, and nobody said that it is right: a run costs money."""
    if settings.roadmap.dialect == "auto" and any(plan.task(name).guess for name in chosen):
        raise RoadmapGuessed(
            f"{project.roadmap.name} has no boxes: its tasks are a guess ({plan.dialect}), and a run costs money",
            f"check it: milepost plan --explain   then confirm it: milepost run --dialect {plan.dialect}, "
            f'or dialect = "{plan.dialect}" under [roadmap] in milepost.toml',
        )


def _refuse_uncommitted(project: Project) -> None:
    path = project.roadmap_in_tree
    problem = project.repository.uncommitted(path)
    if problem:
        raise RoadmapNotCommitted(
            f"{path} {problem}, but a run starts from the committed version",
            f"git add {path} && git commit -m Roadmap, then run again",
        )


def _reviewers(settings: Settings) -> tuple[str, ...]:
    """Whose opinion is asked for beside the checks."""
    if settings.verify.mode != "agent":
        return ()
    if not settings.verify.agent:
        raise SettingInvalid(
            "verify.mode is 'agent', but no agent is set for the review",
            'set one: agent = "command:…" under [verify] in milepost.toml',
        )
    return (settings.verify.agent,)


def require_agent(name: str, settings: Settings, project: Project, given: Mapping[str, Agent]) -> None:
    """Raise when a name means no agent that can work here."""
    if not name:
        raise AgentUnknown(
            "no agent is set",
            "name one: milepost run --agent claude (codex, tool, command:ARGV), or agent under [run] in milepost.toml",
        )
    refuse_secret(name, settings)
    agent = given[name] if name in given else make_agent(name, settings, project.roadmap.parent)
    if budget_of(settings).usd is not None and not getattr(agent, "price_known", True):
        raise SettingInvalid(
            f"the price of {settings.model.name} is not known, so a budget in USD cannot be enforced",
            "state input_usd_per_mtok and output_usd_per_mtok under [model] in milepost.toml, or bound tokens instead",
        )


def refuse_secret(name: str, settings: Settings) -> None:
    """Raise when the name of an agent holds a secret."""
    if Redactor(known_secrets(settings))(name) != name:
        raise SettingInvalid(
            "the agent's command line contains a secret, and command lines are recorded",
            'pass it by name: env_from = ["…"] under [agents.command] in milepost.toml',
        )


def _why_nothing(plan: Plan, held: tuple[str, ...]) -> str:
    if held:
        return f"{', '.join(held)} {'wait' if len(held) > 1 else 'waits'} for your answer: milepost gates"
    if not plan.tasks:
        raise SettingInvalid(
            "the roadmap has no tasks", "write tasks as `- [ ] do this`; milepost plan shows what was found"
        )
    done = sum(task.status == "done" for task in plan.tasks)
    return f"all {done} tasks are done" if done == len(plan.tasks) else "none of the requested tasks is open"
