"""What a run was asked to do, recorded whole: a resumed run needs no flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from milepost.core.attempt import Attempt, Outcome
from milepost.core.budget import Budget
from milepost.core.plain_names import path_inside, plain_name
from milepost.core.task import Task
from milepost.plan.context.build_context import ContextBounds
from milepost.plan.options import Planning
from milepost.roadmap.reading.options import Manner
from milepost.workspace.mileposts import Stamp
from milepost.workspace.repository import Identity, Position

# The shape of the recorded steps. A run is resumed only by an engine that records the same shape.
VERSION = "8"

AUTO = "auto"  # the agent that stands for whom the router chooses
ROUTED = frozenset({AUTO, f"pattern:{AUTO}"})  # the second is how a task with inputs says it


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """What may be done about a failed attempt: the settings of [repair], as they were at the start."""

    mode: str = "auto-fix"
    recipes: bool = True
    packages: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Among whom is chosen for tasks of the agent `auto`, and how: the settings of [router], as they were at the start.

    `agents` can work here; `left_out` cannot, each with the reason. `fixed` is by trait.
    """

    mode: Literal["fixed", "round-robin", "measured"]
    agents: tuple[str, ...]
    fixed: Mapping[str, str] = field(default_factory=dict)
    explore: float = 0.0
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembering:
    """How a run remembers: the settings of [memory], as they were at the start.

    `project` is what the project is called in the memory. `token` tells this run from all others on any machine, whose
    names of four digits come again.
    """

    mode: Literal["on", "off", "read-only"] = "off"
    project: str = ""
    token: str = ""
    holdout: float = 0.2
    semantic: bool = False
    distil_with: str = ""

    @property
    def writes(self) -> bool:
        """Whether lessons are made and judged."""
        return self.mode == "on"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """One run: where it starts, what it is to do, by whom, within which limits.

    `checks` are the settings of [verify], `sandbox` those of [sandbox]: a run is judged by the rules it began with.
    `trust` is empty where containers hold its commands.
    The mileposts of one that is `held` stay on its own branch until those of other projects are there, too.
    `routing` is there where somebody must be chosen for a task. `manner` and `planning` are the settings of [roadmap]
    and [plan], as they were at the start; `context` is how much of the repository agents are shown, `memory` how
    it remembers. `met` are the tasks of other projects that were done then. `not_started` are tasks that are left alone
    because a person was asked about their work in an earlier run.
    """

    run: str
    roadmap: str
    base: str
    ahead: str
    user: Position
    tasks: tuple[str, ...]
    wished: tuple[str, ...]
    max_tasks: int | None
    agent: str
    trust: str
    downgraded: bool = False
    parallel: int
    attempts: int
    task_timeout_s: float
    idle_timeout_s: float
    check_timeout_s: float
    identity: Identity
    started_at: int
    repairs: Repairs = Repairs()
    checks: Mapping[str, Any] = field(default_factory=dict)
    sandbox: Mapping[str, Any] = field(default_factory=dict)
    ordered: bool = False
    approve: str = "never"
    budget: Budget = field(default_factory=Budget)
    held: bool = False
    routing: Routing | None = None
    manner: Manner = field(default_factory=Manner)
    planning: Planning = field(default_factory=Planning)
    met: tuple[str, ...] = ()
    context: ContextBounds = field(default_factory=ContextBounds)
    memory: Remembering = Remembering()
    not_started: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse names that would lead elsewhere: all of this may come from a row that somebody else wrote."""
        plain_name(self.run, "a run")
        path_inside(self.roadmap, "a roadmap")
        for task in self.tasks:
            plain_name(task, "a task")

    @property
    def agents(self) -> tuple[str, ...]:
        """All agents that the order itself names, each once; a roadmap may name more."""
        routed = () if self.routing is None else (*self.routing.agents, *self.routing.fixed.values())
        judges = (str(self.checks.get(name, "")) for name in ("agent", "tester"))
        return tuple(dict.fromkeys((self.agent, *routed, *self.repairs.fallback, *judges)))

    def stamp(self, at: int | None = None) -> Stamp:
        return Stamp(identity=self.identity, at=self.started_at if at is None else at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A tree that would end a task: an attempt's work on top of `base`, box ticked; `problem` when it cannot.

    `corrections` are paths that the task names wrongly, each with the right one; `doubts` how many its agent was left
    with; `leaks` the places of credentials that it left, which the tree has masked.
    """

    attempt: int
    agent: str
    base: str
    tree: str
    changed: tuple[str, ...]
    problem: str = ""
    corrections: tuple[tuple[str, str], ...] = ()
    doubts: int = 0
    leaks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAttempt:
    """How the next attempt is made: by whom, from which tree (empty: the base's), told what, after which wait.

    `rounds` is how often it waited for its service already.
    """

    agent: str
    tree: str = ""
    advice: tuple[str, ...] = ()
    wait_s: float = 0.0
    rounds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSpec:
    """One attempt in the making: at which task of which run, the how-manieth, by whom."""

    order: RunSpec
    task: Task
    number: int
    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """What an agent left: the commit that keeps it, and the candidate that is to be verified."""

    candidate: Candidate
    commit: str
    left: str
    outcome: Outcome
    finished_at: int
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedAttempt:
    """An attempt, the commit that its evidence's tree stands on, and the moment it was finished.

    `left` is the tree that the attempt left, without the ticked box; `changed` the files that it changed.
    """

    attempt: Attempt
    proven_on: str
    finished_at: int
    left: str = ""
    changed: tuple[str, ...] = ()
    corrections: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebased:
    """An attempt's work on top of those that wait before it to land: the commit that the next one is put on."""

    commit: str
    tree: str
    reconciled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """The work is on the run's branch."""

    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unproven:
    """Others landed meanwhile: this tree, the work on top of theirs, has not been verified yet."""

    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Others landed meanwhile and changed the same lines; `shown` is both versions, for whoever does it again."""

    paths: tuple[str, ...]
    shown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """What came of bringing work to the branch, or to the end of those that wait to land."""

    result: Landed | Unproven | Conflict | Rebased


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchMove:
    """What became of the user's own branch at the end: moved, or the one command that moves it and `why` it takes one.

    `head` is the run's.
    """

    fast_forwarded: str = ""
    by_hand: str = ""
    why: str = ""
    head: str = ""


RECIPE = "recipe:"

PARTS = f"{RECIPE}parts"  # whoever puts a task together whose parts are done


def folded(history: tuple[Attempt, ...]) -> tuple[Attempt, ...]:
    """The attempts of agents, each with the evidence for what recipes made of it."""
    found: list[Attempt] = []
    for attempt in history:
        if attempt.agent.startswith(RECIPE) and found:
            found[-1] = replace(found[-1], evidence=attempt.evidence)
        else:
            found.append(attempt)
    return tuple(found)


def of_last_agent(history: tuple[Attempt, ...]) -> tuple[Attempt, ...]:
    """The attempts of the agent that made the last one, since it took over."""
    found: list[Attempt] = []
    for attempt in reversed(history):
        if attempt.agent != history[-1].agent:
            break
        found.append(attempt)
    return tuple(reversed(found))
