"""What happens in a run, as typed events: one append-only stream that every view reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from milepost.core.attempt import SignalKind
from milepost.core.verdict import CheckOutcome, Verdict

Stage = Literal["act", "verify", "land"]
GateKind = Literal["before", "after", "destructive", "held"]
GateAnswer = Literal["approve", "reject", "edit", "skip", "delegate", "accept"]
RunBy = Literal["agent", "milepost"]

# The shape of the stream: raised when an event changes its meaning, not when one is added.
EVENTS_VERSION = 1

OPEN_AGAIN = "undone: open again"  # why a task has no verdict any more


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSummary:
    """How a task stands at the end of a run; a verdict of None means that it was never tried.

    `proposal` is what a person could do about a task without a milepost, with the command to run.
    """

    id: str
    title: str
    verdict: Verdict | None
    commit: str | None
    attempts: int
    reason: str
    proposal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    run: str
    branch: str
    base: str
    base_name: str
    ahead: str
    agent: str
    trust: str
    parallel: int
    tasks: tuple[str, ...]
    event: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStarted:
    run: str
    task: str
    title: str
    attempt: int
    stage: Stage
    agent: str = ""
    event: Literal["stage_started"] = "stage_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSaid:
    """What an agent said, or with `by_engine` what a person should know before it works."""

    run: str
    task: str
    attempt: int
    text: str
    by_engine: bool = False
    event: Literal["agent_said"] = "agent_said"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinished:
    run: str
    task: str
    attempt: int
    name: str
    outcome: CheckOutcome
    summary: str
    duration_ms: int
    event: Literal["check_finished"] = "check_finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFinished:
    run: str
    task: str
    attempt: int
    agent: str
    verdict: Verdict
    reason: str
    commit: str
    duration_ms: int
    cost_usd: float
    event: Literal["attempt_finished"] = "attempt_finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFinished:
    run: str
    task: str
    title: str
    agent: str
    verdict: Verdict | None
    commit: str | None
    attempts: int
    reason: str
    checks: int
    tests: int
    duration_ms: int
    cost_usd: float
    confidence: float = 0.0
    proposal: str = ""
    event: Literal["task_finished"] = "task_finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The last event of a run, and the answer of `milepost run`."""

    run: str
    branch: str
    tasks: tuple[TaskSummary, ...]
    cost_usd: float
    duration_ms: int
    head: str
    fast_forwarded: str
    by_hand: str
    why: str = ""
    event: Literal["run_finished"] = "run_finished"

    @property
    def passed(self) -> bool:
        """True when every task that was asked for has its milepost."""
        return all(task.verdict is Verdict.PASSED for task in self.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """An interrupted run goes on; commands before it that have no end were cut short.

    `last_call` is the last one that was answered.
    """

    run: str
    branch: str
    agent: str
    trust: str
    last_seen_at: float
    ended: int
    tasks: int
    last_call: str = ""
    event: Literal["run_resumed"] = "run_resumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStopping:
    """The run was asked to stop: told to whoever listens, not kept."""

    run: str
    at_once: bool
    event: Literal["run_stopping"] = "run_stopping"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled:
    """A model answered; `number` counts the calls of the attempt."""

    run: str
    task: str
    attempt: int
    number: int
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float
    duration_ms: int
    event: Literal["model_called"] = "model_called"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUsed:
    """An agent used a tool; `printed` is the end of what came of it."""

    run: str
    task: str
    attempt: int
    number: int
    tool: str
    summary: str
    failed: bool
    duration_ms: int
    printed: str = ""
    event: Literal["tool_used"] = "tool_used"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandStarted:
    """A command runs in the sandbox; `command` names it in the run, `by` says whose it is.

    `about` is told of one whose failing is no trouble: it is wanted, or was so before.
    """

    run: str
    task: str
    attempt: int
    command: str
    argv: str
    by: RunBy
    about: str = ""
    event: Literal["command_started"] = "command_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPrinted:
    """Lines that a command printed, in order; `errors` are the places in `lines` of those that came on stderr.

    Kept, and not told to whoever listens.
    """

    run: str
    task: str
    attempt: int
    command: str
    lines: tuple[str, ...]
    errors: tuple[int, ...]
    event: Literal["command_printed"] = "command_printed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFinished:
    """How a command ended; `unshown` lines that it printed are not kept."""

    run: str
    task: str
    attempt: int
    command: str
    exit_code: int | None
    ending: str
    duration_ms: int
    unshown: int
    event: Literal["command_finished"] = "command_finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsTakenBack:
    """The events at these places are gone: a step that was cut short does them again. Kept, not told to who listens."""

    run: str
    task: str
    attempt: int
    seqs: tuple[int, ...]
    event: Literal["events_taken_back"] = "events_taken_back"


@dataclass(frozen=True, slots=True, kw_only=True)
class MilepostMade:
    """Proven work is on the run's branch."""

    run: str
    task: str
    attempt: int
    commit: str
    tree: str
    event: Literal["milepost_made"] = "milepost_made"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOpened:
    """A person is asked: `shown` is what they decide on (a diff, a command), `digest` its hash."""

    run: str
    task: str
    gate: str
    kind: GateKind
    question: str
    shown: str
    digest: str
    event: Literal["gate_opened"] = "gate_opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswered:
    run: str
    task: str
    gate: str
    answer: GateAnswer
    text: str = ""
    event: Literal["gate_answered"] = "gate_answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReached:
    """A call was refused because it could break the wall; `scope` is the run or a task."""

    run: str
    task: str
    scope: str
    message: str
    event: Literal["budget_reached"] = "budget_reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceWaits:
    """An attempt waits for its agent's service: `until` when, in seconds since 1970, and whether that was `stated`."""

    run: str
    task: str
    attempt: int
    what: str
    until: float
    stated: bool = False
    event: Literal["service_waits"] = "service_waits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """The run was changed while it was on, and how; `task` is empty when it is about all of it."""

    run: str
    task: str
    what: str
    event: Literal["steered"] = "steered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastMade:
    """What the run was expected to take when it began, from `similar` earlier attempts."""

    run: str
    tasks: int
    similar: int
    usd_low: float
    usd: float
    usd_high: float
    seconds_low: float
    seconds: float
    seconds_high: float
    event: Literal["forecast_made"] = "forecast_made"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSignalled:
    """An agent said how sure it is of what it does: uncertain, exploring, or committed to a plan."""

    run: str
    task: str
    attempt: int
    kind: SignalKind
    text: str
    event: Literal["agent_signalled"] = "agent_signalled"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChosen:
    """Somebody was chosen for a task among all that were `considered`, and why.

    Without a task and an agent it tells at the start of a run among whom is chosen, and who is left out and why.
    """

    run: str
    task: str
    agent: str
    reason: str
    mode: str
    considered: tuple[str, ...]
    event: Literal["agent_chosen"] = "agent_chosen"


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonsTold:
    """What an attempt was told of earlier ones, in these lines; `held_out` fitted, and was not told to measure it."""

    run: str
    task: str
    attempt: int
    lessons: tuple[str, ...]
    lines: tuple[str, ...]
    held_out: tuple[str, ...]
    event: Literal["lessons_told"] = "lessons_told"

    @property
    def in_words(self) -> str:
        """`told 2 lessons, 1 held out`."""
        lessons = f"{len(self.lessons)} lesson{'' if len(self.lessons) == 1 else 's'}"
        return f"told {lessons}" + (f", {len(self.held_out)} held out" if self.held_out else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWaits:
    """Rows of the memory that its primary does not have yet when a run ends: told to whoever listens, not kept."""

    run: str
    rows: int
    event: Literal["memory_waits"] = "memory_waits"

    @property
    def in_words(self) -> str:
        """`3 rows of the memory are not yet synced`."""
        return f"{self.rows} row{' of the memory is' if self.rows == 1 else 's of the memory are'} not yet synced"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerChanged:
    """A worker joined, left, or was taken over from."""

    run: str
    worker: str
    what: str
    event: Literal["worker_changed"] = "worker_changed"


Event = (
    RunStarted
    | RunResumed
    | StageStarted
    | AgentSaid
    | ModelCalled
    | ToolUsed
    | CommandStarted
    | CommandPrinted
    | CommandFinished
    | EventsTakenBack
    | MilepostMade
    | GateOpened
    | GateAnswered
    | BudgetReached
    | ServiceWaits
    | Steered
    | ForecastMade
    | AgentChosen
    | AgentSignalled
    | LessonsTold
    | MemoryWaits
    | WorkerChanged
    | CheckFinished
    | AttemptFinished
    | TaskFinished
    | RunStopping
    | RunFinished
)
