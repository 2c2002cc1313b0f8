"""What is remembered of attempts, what is learnt from them, and what later attempts are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from milepost.core.verdict import Verdict

TaskKind = Literal["code_generation", "debugging", "refactoring", "testing", "analysis", "documentation", "other"]
Complexity = Literal["simple", "moderate", "complex"]
StepResult = Literal["success", "error", "timeout"]
EndKind = Literal["success", "partial", "failure", "abstained", "interrupted"]
ExhibitKind = Literal["diff", "log", "test", "coverage", "file"]

PatternKind = Literal["tool_sequence", "decision_point", "error_recovery", "context"]

LessonKind = Literal[
    "usage", "recovery", "command", "together", "flaky", "failed_approach", "convention", "fact", "distilled"
]
LessonScope = Literal["task", "project", "user"]
LessonState = Literal["candidate", "active", "quarantined", "retired"]
Effect = Literal["helped", "harmed", "none"]
Arm = Literal["shown", "held_out"]

UNJUDGED = "says nothing of the agent"  # the signal of an end that was not the agent's doing
BY_HAND = "by hand: "  # how the reason begins of what a person did; nothing else begins so


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What kind of work an episode was: the language and framework of its files, how hard, in which domain."""

    language: str = ""
    framework: str = ""
    complexity: Complexity = "moderate"
    domain: str = "general"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeStart:
    """An episode as it begins. `owner` is who will end it: `run RUN` for an engine, else a process of a machine."""

    id: str
    project: str
    title: str
    started_at: float
    owner: str = ""
    run: str = ""
    task: str = ""
    attempt: int = 1
    agent: str = ""
    text: str = ""
    kind: TaskKind = "other"
    circumstances: Circumstances = Circumstances()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeStep:
    """One thing that was done in an episode. `signature` is that of the error that came of it; empty without one."""

    tool: str
    action: str
    number: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    result: StepResult = "success"
    observation: str = ""
    signature: str = ""
    latency_ms: int = 0
    tokens: int = 0
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """Something that an episode made and that is kept with it."""

    name: str
    kind: ExhibitKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEnd:
    """How an episode ended. `verdict` is the engine's own; None where nothing was verified, and nothing is learnt.

    `signatures` are those of the errors it ended with; `evidence` names what shows it: commits, trees, checks.
    `completed` and `undone` are the parts of a partial end; `signals` say why it was abstained from.
    """

    kind: EndKind
    ended_at: float
    verdict: Verdict | None = None
    reason: str = ""
    evidence: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    duration_ms: int = 0
    cost_usd: float = 0.0
    tokens: int = 0

    @property
    def judged(self) -> bool:
        """Whether it says something of its agent and of what that was told."""
        return UNJUDGED not in self.signals


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """What an episode was worth, with the factors of it; `total` is never positive for a failure."""

    total: float = 0.0
    base: float = 0.0
    abstention: float = 0.0
    efficiency: float = 1.0
    complexity: float = 1.0
    quality: float = 1.0
    learning: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What measured facts say of an episode."""

    successes: tuple[str, ...] = ()
    improvements: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Something that comes again: `key` is the same for the same thing, `passed` of `seen` episodes with it passed."""

    kind: PatternKind
    key: str
    parts: tuple[str, ...]
    circumstances: Circumstances = Circumstances()
    seen: int = 1
    passed: int = 0
    latency_ms: float = 0.0
    last_at: float = 0.0
    episodes: tuple[str, ...] = ()

    @property
    def success_rate(self) -> float:
        return self.passed / self.seen if self.seen else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heuristic:
    """Where `condition` holds, `action` has worked, in so many of the episodes that support it."""

    condition: str
    action: str
    confidence: float
    passed: int
    seen: int
    episodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What is computed when an episode ends."""

    reward: Reward = Reward()
    reflection: Reflection = Reflection()
    patterns: tuple[Pattern, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One attempt as an experience: what was tried, by whom, step by step, and how it ended; `end` None while open."""

    start: EpisodeStart
    steps: tuple[EpisodeStep, ...] = ()
    end: EpisodeEnd | None = None
    assessment: Assessment | None = None

    @property
    def id(self) -> str:
        return self.start.id

    @property
    def verified(self) -> bool:
        """Whether the engine itself found out how it ended: only then it teaches."""
        return self.end is not None and self.end.verdict in (Verdict.PASSED, Verdict.FAILED)

    @property
    def passed(self) -> bool:
        return self.end is not None and self.end.verdict is Verdict.PASSED

    @property
    def judged(self) -> bool:
        """Whether how it ended counts for or against its agent and what that was told: it is verified, and theirs."""
        return self.verified and self.end is not None and self.end.judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What one attempt took, and how it ended: an episode as a forecast and a choice of agents see it.

    One that is not `judged` says nothing of how good its agent is. `owner` tells runs apart whose names are the same.
    """

    run: str
    task: str
    title: str
    attempt: int
    agent: str
    verdict: Verdict
    duration_ms: int
    cost_usd: float = 0.0
    tags: tuple[str, ...] = ()
    judged: bool = True
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A few lines for later attempts, built from our own templates and quoted evidence.

    `subject` is what it is about: two lessons of one kind and subject that say different things contradict each other.
    `terms` are its key terms: it is shown where enough of them are in the task. `symbols` are the names and files by
    which its use can be seen in a change. `signature` is the error that it mends. `source` is where its text was taken
    from: a commit, a path, a tool.
    """

    id: str
    kind: LessonKind
    project: str
    subject: str
    text: str
    made_at: float
    scope: LessonScope = "project"
    task: str = ""
    terms: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    signature: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """A lesson that fitted an attempt: it was shown to it, or held out so that its effect can be measured."""

    lesson: str
    episode: str
    arm: Arm


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What a lesson did for an attempt that it was shown to."""

    lesson: str
    episode: str
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonStanding:
    """A lesson as it stands: its state, what it grew from, and what came of the attempts it fitted.

    `shown` and `held_out` are (passed, failed) of the judged attempts with and without it; `opportunities` counts the
    attempts that it was shown to and of no use for since its last effect. `independent` of the `sources` were not told
    it themselves, `since` of them came after it got its state, the newest at `supported_at`.
    """

    lesson: Lesson
    state: LessonState
    why: str = ""
    sources: tuple[str, ...] = ()
    shown: tuple[int, int] = (0, 0)
    held_out: tuple[int, int] = (0, 0)
    helped: int = 0
    harmed: int = 0
    without_effect: int = 0
    opportunities: int = 0
    independent: int = 0
    since: int = 0
    supported_at: float = 0.0

    @property
    def by_hand(self) -> bool:
        """Whether a person put it into its state: then only a person has it in another."""
        return self.why.startswith(BY_HAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What lessons are wanted for. `episode` is the attempt that will be told; empty when nobody will, as in a search.

    `errors` are the raw texts of what failed before, `signatures` those of the same errors.
    """

    project: str
    text: str
    task: str = ""
    files: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    episode: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """A few lines for an attempt, the lessons they come from, those held out, and why it is these and no others."""

    lines: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    held_out: tuple[str, ...] = ()
    explanation: tuple[str, ...] = ()
