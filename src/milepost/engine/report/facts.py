"""What a report says, as values: the same facts for the page, for Markdown and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from milepost.core.basis import BY_OWN_TESTS
from milepost.core.verdict import Question
from milepost.engine.report.diffs import Diff

RunState = Literal["finished", "running", "interrupted", "left"]
# How a task stands: its verdict where it has one, else what it is at; accepted has a milepost, and did not pass.
Standing = Literal["passed", "accepted", "held", "failed", "unverified", "working", "asking", "waiting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStory:
    """One question and its answers, before and after; `details` is told of one that failed.

    One that is `held` only a person can answer.
    """

    name: str
    asked: str
    before: str
    after: str
    failed: bool
    decisive: bool
    seconds: float
    details: tuple[str, ...] = ()
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStory:
    """One attempt; one that is not over has no verdict. `commit` is what it left, on top of `base`.

    `basis` is what the verdict rests on beside the checks, `questions` what a person is or was asked; `decided` says
    who approved or accepted it. `held` is what the sandbox enforced.
    """

    number: int
    agent: str
    verdict: str
    reason: str
    seconds: float
    cost_usd: float
    tokens: int = 0
    calls: int = 0
    tools: int = 0
    failure: str = ""
    said: str = ""
    ref: str = ""
    base: str = ""
    commit: str = ""
    checks: tuple[CheckStory, ...] = ()
    nothing_to_ask: tuple[str, ...] = ()
    confidence: float = 0.0
    held: tuple[str, ...] = ()
    basis: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    decided: str = ""

    @property
    def by_own_tests(self) -> bool:
        """Whether nothing but tests that the attempt wrote shows that it is done."""
        return any(line.startswith(BY_OWN_TESTS) for line in self.basis)

    @property
    def refused_by(self) -> tuple[CheckStory, ...]:
        """The checks that failed, those that decided first."""
        return tuple(sorted((check for check in self.checks if check.failed), key=lambda check: not check.decisive))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAttempt:
    """One attempt at a task of a run; `numbers` are all attempts at it there, `milepost` the commit that came of it."""

    run: str
    task: str
    title: str
    attempt: AttemptStory
    numbers: tuple[int, ...]
    milepost: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A stage of an attempt on the timeline; an open one has not ended."""

    attempt: int
    stage: str
    began: float
    ended: float
    open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStory:
    """A question that was put to a person, and the answer, empty while it waits."""

    task: str
    gate: str
    kind: str
    question: str
    shown: str
    asked_at: float
    answer: str = ""
    text: str = ""
    answered_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStory:
    """All that is told of one task."""

    id: str
    title: str
    standing: Standing
    commit: str = ""
    reason: str = ""
    proposal: str = ""
    tests: int = 0
    checks: int = 0
    seconds: float = 0.0
    cost_usd: float = 0.0
    attempts: tuple[AttemptStory, ...] = ()
    bars: tuple[Bar, ...] = ()
    diff: Diff | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """What one task, model or agent took."""

    name: str
    usd: float = 0.0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    by_task: tuple[CostLine, ...] = ()
    by_model: tuple[CostLine, ...] = ()
    by_agent: tuple[CostLine, ...] = ()
    usd: float = 0.0
    tokens: int = 0
    budget_usd: float | None = None
    forecast: str = ""
    walls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that changed the course of a run: a person's word, a worker, a stop."""

    at: float
    task: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseStory:
    """A release that was made since the run began, as it stands now; without `proof` nothing shows its commit."""

    where: str
    number: int
    stage: str
    commit: str
    proof: str
    said: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStory:
    """A run as its report tells it, at the moment `made_at`."""

    run: str
    roadmap: str
    state: RunState
    made_at: float
    version: str
    events_version: int
    started_at: float
    ended_at: float | None
    branch: str = ""
    base: str = ""
    base_name: str = ""
    head: str = ""
    agent: str = ""
    trust: str = ""
    parallel: int = 1
    taken_in: str = ""
    by_hand: str = ""
    tasks: tuple[TaskStory, ...] = ()
    gates: tuple[GateStory, ...] = ()
    happenings: tuple[Happening, ...] = ()
    releases: tuple[ReleaseStory, ...] = ()
    costs: Costs = Costs()

    @property
    def counts(self) -> dict[str, int]:
        """How many tasks passed, were accepted, are held, failed, are unverified: those that there are."""
        verdicts: tuple[Standing, ...] = ("passed", "accepted", "held", "failed", "unverified")
        return {name: count for name in verdicts if (count := len(self.standing(name))) or name == "passed"}

    def standing(self, *wanted: Standing) -> tuple[TaskStory, ...]:
        return tuple(task for task in self.tasks if task.standing in wanted)

    @property
    def open_gates(self) -> tuple[GateStory, ...]:
        return tuple(gate for gate in self.gates if not gate.answer)

    @property
    def seconds(self) -> float:
        """The time that attempts took, added up: work, not waiting. The same that the run says of it."""
        return sum(task.seconds for task in self.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingRun:
    """What a report says where nothing was run yet."""

    roadmap: str
    made_at: float
    version: str
