"""A run as it happens: one line for each task that is over, and below it, on a terminal, what is going on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, assert_never

from milepost import (
    AgentSignalled,
    CheckFinished,
    Event,
    GateOpened,
    MilepostMade,
    RunFinished,
    RunStarted,
    TaskFinished,
    Verdict,
)
from milepost.cli.format_text import (
    COLOURS,
    clipped,
    clock_time,
    counted,
    duration,
    hanging,
    mark,
    money,
    padded,
    safe,
    safe_lines,
    short_agent,
    wrapped,
)
from milepost.cli.named_roadmap import proposed
from milepost.cli.under_way import UnderWayLines
from milepost.events import (
    AgentChosen,
    AgentSaid,
    AttemptFinished,
    BudgetReached,
    CommandFinished,
    CommandPrinted,
    CommandStarted,
    EventsTakenBack,
    ForecastMade,
    GateAnswered,
    LessonsTold,
    MemoryWaits,
    ModelCalled,
    RunResumed,
    RunStopping,
    ServiceWaits,
    StageStarted,
    Steered,
    TaskSummary,
    ToolUsed,
    WorkerChanged,
    listening,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live


def header(event: RunStarted) -> str:
    """The first line of a run: where it works, from where, by whom, held how."""
    start = f"from {event.base_name or 'HEAD'} {event.base[:7]}"
    if event.ahead:
        start = f"from {event.ahead} {event.base[:7]}, not yet merged into {event.base_name or 'HEAD'}"
    who = f"agent {event.agent}" if event.agent else "agents named by the tasks"
    return f"run {event.run} · branch {event.branch} {start} · {who} · sandbox: {event.trust}"


def resumed_header(event: RunResumed) -> str:
    """The first line of a run that goes on."""
    ago = duration(max(0, int((time.time() - event.last_seen_at) * 1000)))
    so_far = f"{event.ended} of {counted(event.tasks, 'task')} finished"
    if event.last_call:
        return (
            f"run {event.run} · stopped {ago} ago at {event.last_call} · continuing from there, nothing is paid twice"
        )
    return f"run {event.run} · last seen {ago} ago, {so_far} · continuing from there, no finished step runs again"


def forecast_line(event: ForecastMade) -> str:
    """What the run is expected to take."""
    took = f"about {duration(int(event.seconds * 1000))}"
    cost = f" · about {money(event.usd)} ({event.usd_low:.2f} to {event.usd_high:.2f})" if event.usd else ""
    return f"forecast  {counted(event.tasks, 'task')}{cost} · {took}, from {counted(event.similar, 'similar attempt')}"


def task_line(event: TaskFinished, width: int) -> str:
    """The line that stays when a task is over."""
    sign = mark(standing(event))
    beyond = max(0, len(event.task) - 5)  # what a long id takes, its title leaves
    title_width = max(10, min(44, width - (57 if event.cost_usd else 50)) - beyond)
    lead = f"{sign} {event.task:<5}  {padded(event.title, title_width)}"
    if event.verdict is None:
        return clipped(f"{lead}  {event.reason}", width)
    who = short_agent(event.agent) if event.attempts == 1 else counted(event.attempts, "attempt")
    proof = counted(event.tests, "test") if event.tests else counted(event.checks, "check")
    cost = f"{money(event.cost_usd):<6} " if event.cost_usd else ""
    facts = f"{who:<10} {duration(event.duration_ms):<8} {cost}"
    if event.verdict is Verdict.PASSED:
        line = f"{lead}  {facts}{proof:<8} {(event.commit or '')[:7]}"
        own = " by its own tests" if event.reason.startswith("by its own tests") else ""
        return clipped(f"{line}{own}" if len(line) + len(own) <= width else line, width)
    if event.commit:
        return clipped(f"{lead}  {facts}accepted {event.commit[:7]}", width)
    if event.verdict in (Verdict.UNVERIFIED, Verdict.HELD):
        return clipped(f"{lead}  {event.verdict}", width)
    return clipped(f"{lead}  {facts}", width).rstrip()


def reason_lines(event: TaskFinished, failed: Sequence[AttemptFinished], width: int) -> list[str]:
    """What stands below that line: why attempts failed, the one that the task ended with last, and what would help."""
    reasons = {attempt.attempt: f"attempt {attempt.attempt} failed: {attempt.reason}" for attempt in failed}
    by_person = bool(event.commit) and event.reason.startswith(("held, approved by ", "accepted by "))
    if event.verdict in (Verdict.FAILED, Verdict.UNVERIFIED, Verdict.HELD) or by_person:
        reasons[event.attempts] = event.reason
    offers = [f"→ {proposed(line)}" for line in event.proposal.splitlines() if event.reason not in line]
    return [line for text in (*reasons.values(), *offers) for line in wrapped(text, width, indent=9)]


class LiveDisplay:
    """Tells a run on stderr: live on a terminal, in plain lines elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._slow = UnderWayLines(lambda line: self._say(line, "dim"), redrawn=console.is_terminal)
        self._hearing = listening(self._slow)
        self._stages: dict[str, tuple[StageStarted, float, str]] = {}
        self._calls: dict[str, tuple[int, float]] = {}
        self._failed: dict[str, list[AttemptFinished]] = {}
        self._told: set[str] = set()  # what is true of all tasks is told with the first

    def __enter__(self) -> LiveDisplay:
        if self._console.is_terminal:
            from rich.live import Live

            self._live = Live(
                get_renderable=self._under_way, console=self._console, refresh_per_second=8, transient=True
            )
            self._live.start()
        self._hearing.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hearing.__exit__(kind, error, trace)
        if self._live is not None:
            self._live.stop()

    def __call__(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._say(header(event) + "\n", "bold")
            case RunResumed():
                self._say(resumed_header(event) + "\n", "bold")
            case StageStarted():
                self._stages[event.task] = (event, time.monotonic(), "")
                if self._live is None:
                    number = f"attempt {event.attempt}" if event.stage != "land" else "milepost"
                    self._say(f"  {event.stage:<7} {event.task}  {number}", "dim")
            case AgentSaid(by_engine=True) if event.text in self._told:
                pass
            case AgentSaid(by_engine=True):
                self._told.add(event.text)
                for line in hanging(f"! {event.task:<5}  ", event.text, self._console.width):
                    self._say(line, "yellow")
            case AgentSaid():
                if event.task in self._stages:
                    stage, since, _ = self._stages[event.task]
                    self._stages[event.task] = (stage, since, event.text)
            case ForecastMade():
                self._say(forecast_line(event) + "\n", "dim")
            case ModelCalled():
                steps, cost_usd = self._calls.get(event.task, (0, 0.0))
                self._calls[event.task] = (steps + 1, cost_usd + event.cost_usd)
            case CheckFinished() | ToolUsed() | MilepostMade():
                pass
            case CommandStarted() | CommandPrinted() | CommandFinished() | EventsTakenBack():
                pass
            case GateOpened():
                self._stages.pop(event.task, None)
                question = event.question.partition("\n")[0] if event.kind == "held" else event.question
                for line in hanging(f"? {event.task:<5}  ", question, self._console.width):
                    self._say(line, "yellow")
                offer = f"milepost approve {event.task}   or: milepost reject {event.task} --reason …"
                self._say(f"         {proposed(offer)}", "dim")
            case GateAnswered():
                self._say(f"  {event.task:<5}  {event.answer}: {event.text}".rstrip(": "), "dim")
            case BudgetReached():
                self._say(f"! {event.message}", "yellow")
            case ServiceWaits():
                self._say(f"  {event.task:<5}  waits until {clock_time(event.until)}: {event.what}", "yellow")
            case Steered():
                self._say(f"  {event.task:<5}  {event.what}", "cyan")
            case AgentSignalled():
                self._say(f"  {event.task:<5}  {event.kind}: {event.text}", "dim")
            case AgentChosen():
                chosen = f"{event.agent}: {event.reason}" if event.agent else event.reason
                self._say(f"  {event.task:<5}  {chosen}", "dim")
            case LessonsTold():
                self._say(f"  {event.task:<5}  {event.in_words}", "dim")
            case MemoryWaits():
                self._say(f"  {event.in_words}: milepost memory sync", "yellow")
            case WorkerChanged():
                self._say(f"  worker {event.worker}  {event.what}", "dim")
            case AttemptFinished():
                self._stages.pop(event.task, None)
                if event.verdict is Verdict.FAILED:
                    self._failed.setdefault(event.task, []).append(event)
                if "service cannot be asked now" in event.reason:
                    self._say(f"  {event.task:<5}  {safe(event.reason)}", "yellow")
            case TaskFinished():
                self._finish(event)
            case RunStopping():
                again = (
                    "" if event.at_once else " after the running steps (again to stop now; nothing is lost either way)"
                )
                self._say(f"stopping{again or ' now'}", "yellow")
            case RunFinished():
                pass
            case _ as never:
                assert_never(never)

    def _finish(self, event: TaskFinished) -> None:
        self._stages.pop(event.task, None)
        width = self._console.width
        self._say(task_line(event, width), COLOURS[standing(event)])
        for line in reason_lines(event, self._failed.get(event.task, []), width):
            self._say(line, "dim")

    def _say(self, text: str, style: str) -> None:
        self._console.print(safe_lines(text), style=style, markup=False, highlight=False, soft_wrap=True)

    def _under_way(self) -> RenderableType:
        from rich.text import Text

        lines = [f"{padded(f'┃ {what}', self._console.width - 12)} {clock:>10}" for what, clock in self._slow.now()]
        for stage, since, said in list(self._stages.values()):
            clock = duration(int((time.monotonic() - since) * 1000))
            steps, cost_usd = self._calls.get(stage.task, (0, 0.0))
            step = f" · step {steps}" if steps and stage.stage == "act" else ""
            what = f"┃ {stage.stage:<7} {stage.task}  attempt {stage.attempt}{step} · {said or stage.title}"
            spent = f"{money(cost_usd):>8}" if cost_usd else ""
            lines.append(f"{padded(what, self._console.width - 12 - len(spent))} {clock:>10}{spent}")
        return Text("\n".join(["", *lines]) if lines else "", style="cyan", no_wrap=True)


def ending_lines(finished: RunFinished) -> list[str]:
    """The last lines of a run: what was made, what was not, what to do next."""
    counts = dict.fromkeys(("passed", "accepted", "held", "failed", "unverified", "aside", None), 0)
    for task in finished.tasks:
        counts[standing(task)] += 1
    words = {"aside": "skipped", None: "waiting"}
    told = [f"{count} {words.get(name, name)}" for name, count in counts.items() if count or name == "passed"]
    lines = [
        "",
        f"{' · '.join(told)}      {duration(finished.duration_ms)} of work    {money(finished.cost_usd)}".rstrip(),
        "",
    ]
    if finished.fast_forwarded:
        lines.append(f"your working tree is clean: {finished.fast_forwarded} fast-forwarded to {finished.head[:7]}")
    elif finished.by_hand:
        has_edit = " (they include your edit of the roadmap)" if finished.by_hand.startswith("git checkout -- ") else ""
        why = f": {safe(finished.why)}" if finished.why else ""
        lines.append(f"your branch was not changed{why}")
        lines.append(f"to merge the mileposts{has_edit}:   {finished.by_hand}")
    return lines + next_lines(finished)


def standing(task: TaskSummary | TaskFinished) -> str | None:
    """How a task stands at the end: its verdict, `accepted` when it has a milepost without having passed, `aside` when
    a person did not want it, None when it still waits.
    """
    if task.verdict is not None:
        return "accepted" if task.commit and task.verdict is not Verdict.PASSED else task.verdict.value
    return "aside" if task.reason.startswith(("refused by a person", "skipped by a person", "dropped")) else None


def _told(task: TaskSummary) -> str:
    return task.reason if standing(task) in ("aside", "accepted") else f"{task.verdict or 'waiting'}: {task.reason}"


def next_lines(finished: RunFinished) -> list[str]:
    newest = next((task.commit for task in reversed(finished.tasks) if task.commit), None)
    # Of a group, whose tasks have one milepost, the first gives it its name.
    passed = next((task for task in finished.tasks if newest and task.commit == newest), None)
    asked = next((task for task in finished.tasks if _is_asked(task)), None)
    other = next((task for task in finished.tasks if task.verdict and standing(task) in ("failed", "unverified")), None)
    steps = []
    if asked is not None:
        steps.append((proposed("milepost gates"), "the questions about held work, and what they are about"))
        steps.append((proposed(f"milepost approve {asked.id}"), f"or: {proposed(f'milepost reject {asked.id} WHY')}"))
    if other is not None:
        steps.append((proposed(f"milepost proof {other.id}"), "what was tried, and why it was not accepted"))
    if passed is not None:
        if other is None and asked is None:
            steps.append((proposed(f"milepost proof {passed.id}"), "the checks that prove it"))
        steps.append((proposed(f"milepost undo {passed.id}"), "undoes only that milepost"))
    width = max((len(command) for command, _ in steps), default=0)
    return [f"{'next' if i == 0 else '':<6} {command:<{width}}   {why}" for i, (command, why) in enumerate(steps)]


def _is_asked(task: TaskSummary) -> bool:
    """Whether a person is asked about the work of a task after the run."""
    return not task.commit and task.verdict in (Verdict.HELD, Verdict.UNVERIFIED)


def result_lines(finished: RunFinished) -> list[str]:
    """A line for each task, for whoever reads stdout and saw no progress."""
    lines = []
    for task in finished.tasks:
        sign = mark(standing(task))
        commit = f"{task.commit[:7]}  " if task.commit else ""
        lines.append(safe(f"{sign} {task.id}  {task.title}  {commit}{_told(task)}"))
    return lines
