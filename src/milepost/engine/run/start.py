"""Starting a run, going on with one, and stopping one."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.commands import TrustLevel
from milepost.core.errors import RunUnfinished
from milepost.core.events import (
    AttemptFinished,
    Event,
    MemoryWaits,
    ModelCalled,
    RunFinished,
    RunResumed,
    RunStopping,
    TaskFinished,
)
from milepost.engine.gates.ask import waiting_for_people
from milepost.engine.gates.rules import approval_named
from milepost.engine.gates.unfinished_run import (
    ask,
    paused,
    refuse_elsewhere,
    require_meant,
    unfinished,
    within_new_wall,
)
from milepost.engine.memory.open_memory import waiting_rows
from milepost.engine.project import open_runs
from milepost.engine.project.network_setting import as_text
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import EVERYTHING, load
from milepost.engine.project.settings.sandbox import SandboxSettings
from milepost.engine.project.settings.settings import Settings, budget_again
from milepost.engine.project.settings.verify import VerifySettings
from milepost.engine.project.state_lock import StateLock, busy, holder_of
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.run_request import Caller, NothingToDo, RunRequest
from milepost.engine.records.run_spec import VERSION, RunSpec
from milepost.engine.records.steering import Request
from milepost.engine.records.suspend import Suspended, Terminated
from milepost.engine.records.values_json import dump
from milepost.engine.records.values_json import load as load_value
from milepost.engine.run import prepare
from milepost.engine.run.recorded_agents import note_agents, require_agreed_order
from milepost.engine.run.wiring import open_rooms
from milepost.engine.services import RunServices
from milepost.engine.terminals.isolation import hold_of

STOP, STOP_NOW = "stop", "stop-now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """A run that was stopped between two steps and can go on at any time; `waits_for` are tasks that people hold up.

    `by_system` says that the system ended it, as at a shutdown.
    """

    run: str
    waits_for: tuple[str, ...] = ()
    by_system: bool = False


EndedHere = RunFinished | Stopped | NothingToDo


def run(wish: RunRequest, caller: Caller) -> EndedHere:
    """Start a run, or go on with the one that was interrupted."""
    project = Project.find(wish.roadmap)
    settings = load(project.roadmap.parent, flags_of(wish), uses=EVERYTHING)
    refuse_busy(project)
    interrupted = None if wish.new else unfinished(project)
    if interrupted is not None:
        refuse_elsewhere(project, interrupted)
        refuse_other(interrupted, wish)
        return resume(wish.roadmap, caller, budget_usd=wish.budget_usd)
    drafted = prepare.draft(project, settings, wish, caller.agents)
    if isinstance(drafted, NothingToDo):
        return drafted
    with project.lock() as lock:
        with Journal(project.database) as journal:
            order = prepare.order(project, settings, drafted, journal)
            if isinstance(order, NothingToDo):
                return order
            for record in journal.runs():
                if record.unfinished:
                    journal.leave_run(record.run)
            journal.open_run(order.run, VERSION, dump(order))
        return _go_noted(project, settings, order, lock, caller)


def run_to_end(project: Project, settings: Settings, order: RunSpec, caller: Caller) -> EndedHere:
    """Run an order that was drawn up elsewhere, as a new run of a project that had none of its name."""
    with project.lock() as lock:
        with Journal(project.database) as journal:
            journal.open_run(order.run, VERSION, dump(order))
        return _go(project, settings, order, lock, caller)


def refuse_busy(project: Project) -> None:
    """Raise when an engine works on this roadmap now."""
    holder = holder_of(project.state)
    if holder is not None and holder.alive:
        raise busy(holder)


def flags_of(wish: RunRequest) -> dict[str, object]:
    """The settings that a wish gives by hand."""
    return {
        "agent": wish.agent,
        "parallel": wish.parallel,
        "trust": wish.trust,
        "network": wish.network,
        "budget_usd": wish.budget_usd,
        "approve": approval_named(wish.approve) if wish.approve else None,
        "ordered": wish.ordered,
        "database": wish.database,
        "remote": wish.remote,
        "order": wish.order,
        "group": wish.group,
        "dialect": wish.dialect,
        "memory": wish.memory,
        "verify_mode": wish.verify_mode,
        "adaptive_mode": wish.adaptive_mode,
    }


def resume(
    roadmap: Path | None, caller: Caller, budget_usd: float | None = None, meant: str | None = None
) -> EndedHere:
    """Go on with the run that was interrupted; all it needs to know is recorded. A paused one goes on where it runs.

    It refuses where that is not the run that is `meant`.
    """
    project = Project.find(roadmap)
    if not project.database.exists():
        return NothingToDo(reason="no runs here yet")
    holder = holder_of(project.state)
    if holder is not None and holder.run and paused(project.database, holder.run):
        require_meant(project, unfinished(project), meant)
        ask(project.database, holder.run, Request(kind="go_on"))
        return NothingToDo(reason=f"run {holder.run} was paused, and continues where it runs (pid {holder.pid})")
    with project.lock() as lock:
        record = unfinished(project)
        require_meant(project, record, meant)
        if record is None:
            return NothingToDo(reason="the last run is finished")
        refuse_elsewhere(project, record)
        order = within_new_wall(project.database, recorded_order(record), budget_usd)
        settings = load(project.roadmap.parent, {"trust": order.trust or None}, uses=EVERYTHING)
        require_agreed_order(project, settings, order)
        order = replace(order, budget=budget_again(settings, order.budget))
        if paused(project.database, order.run):
            ask(project.database, order.run, Request(kind="go_on"))
        return _go_noted(project, settings, order, lock, caller)


def stop(roadmap: Path | None, *, at_once: bool = False) -> str | None:
    """Ask the engine that works on a roadmap to stop, and wait until it has; gives its run, None without one."""
    project = Project.find(roadmap)
    holder = holder_of(project.state)
    if holder is None or not holder.run:
        return None
    (project.state / (STOP_NOW if at_once else STOP)).touch()
    while (now := holder_of(project.state)) is not None and now.pid == holder.pid:
        time.sleep(0.05)
    return holder.run


def _go_noted(project: Project, settings: Settings, order: RunSpec, lock: StateLock, caller: Caller) -> EndedHere:
    """Travel a run's way, with a note that it is under way until it ends or a person stops it."""
    note_agents(project, order)
    open_runs.note(project.roadmap, order.run)
    try:
        ending = _go(project, settings, order, lock, caller)
    except KeyboardInterrupt as interruption:
        if not isinstance(interruption, Terminated):
            open_runs.forget(project.roadmap)
        raise
    if not (isinstance(ending, Stopped) and ending.by_system):
        open_runs.forget(project.roadmap)
    return ending


def _go(project: Project, settings: Settings, order: RunSpec, lock: StateLock, caller: Caller) -> EndedHere:
    """Travel a run's whole way in this process, from wherever it is, and clear away what old ones left."""
    for sign in _signs(project):  # before there is a run to be seen that could be asked to stop
        sign.unlink(missing_ok=True)
    lock.name_run(order.run)
    ending = _work(project, within(order, settings), order, lock, caller)
    if isinstance(ending, RunFinished):
        from milepost.engine.records.retention import clean_daily

        clean_daily(project, lock.fd, settings.state.keep_days)
    if order.memory.writes and (rows := waiting_rows(project, settings)):
        caller.on_event(MemoryWaits(run=order.run, rows=rows))
    return ending


def _work(project: Project, settings: Settings, order: RunSpec, lock: StateLock, caller: Caller) -> EndedHere:
    from milepost.engine.run import durable
    from milepost.engine.run import workflows as story

    with open_rooms(project, settings, order, lock.fd, caller) as services:
        services.books.steering.begin()
        brake = Brake(services, order.run)
        _tell_resumed(services, order)

        def look_for_signs() -> None:
            services.books.wallet.see()
            for sign in _signs(project):
                if sign.exists():
                    sign.unlink(missing_ok=True)
                    brake.pull(at_once=sign.name == STOP_NOW)

        try:
            with durable.launched(project.database, order.run, services, brake.interrupted):
                durable.start(order.run, story.roadmap, dump(order))
                plain = durable.wait_for(order.run, services, look_for_signs, brake.interrupted)
                return load_value(RunFinished, plain)
        except Suspended:
            waits_for = waiting_for_people(services, order.run)
            return Stopped(run=order.run, waits_for=waits_for, by_system=brake.by_system)


def _signs(project: Project) -> tuple[Path, Path]:
    """What says that the run is to stop, in order of urgency."""
    return project.state / STOP, project.state / STOP_NOW


def _tell_resumed(services: RunServices, order: RunSpec) -> None:
    """Say that a run goes on, when it was under way before."""
    entries = services.books.journal.events(order.run)
    if entries:
        resumed = RunResumed(
            run=order.run,
            branch=f"milepost/{order.run}",
            agent=order.agent,
            trust=str(hold_of(order)),
            last_seen_at=services.books.journal.last_at(order.run) or entries[-1].at,
            ended=sum(isinstance(entry.event, TaskFinished) for entry in entries),
            tasks=len(order.tasks),
            last_call=_last_call([entry.event for entry in entries]),
        )
        lives = sum(isinstance(entry.event, RunResumed) for entry in entries)
        services.emit(resumed, f"resumed/{lives + 1}")


def _last_call(events: list[Event]) -> str:
    """Where a run was, when it was in the middle of an attempt: after which answer of the model's."""
    done = {(event.task, event.attempt) for event in events if isinstance(event, AttemptFinished)}
    calls = [event for event in events if isinstance(event, ModelCalled) and (event.task, event.attempt) not in done]
    if not calls:
        return ""
    last = calls[-1]
    number = sum((call.task, call.attempt) == (last.task, last.attempt) for call in calls)
    return f"{last.task} attempt {last.attempt}, after model call {number} of that attempt"


class Brake:
    """Stops a run on request: first after the steps in flight, when asked again at once."""

    def __init__(self, services: RunServices, run: str) -> None:
        self._here = services
        self._run = run
        self.by_system = False

    def interrupted(self) -> None:
        self.by_system = isinstance(sys.exception(), Terminated)
        self.pull(at_once=self._here.parking.stopping)

    def pull(self, *, at_once: bool) -> None:
        self._here.parking.stop(at_once=at_once)
        if at_once:
            self._here.sandbox.stop()
        self._here.tell(RunStopping(run=self._run, at_once=at_once))


def within(order: RunSpec, settings: Settings) -> Settings:
    """The settings with the limits, and the rules of verification, that the run was started with."""
    names = ("attempts", "task_timeout_s", "idle_timeout_s", "check_timeout_s")
    limits = settings.limits.model_copy(update={name: getattr(order, name) for name in names})
    return settings.model_copy(
        update={
            "limits": limits,
            "verify": VerifySettings.model_validate(order.checks),
            "sandbox": SandboxSettings.model_validate(order.sandbox),
        }
    )


def recorded_order(record: RunRecord) -> RunSpec:
    """What a run was asked to do; raises where another version wrote it down."""
    if record.version != VERSION:
        raise RunUnfinished(
            f"run {record.run} was recorded by another version of milepost (format {record.version}, here {VERSION})",
            "finish it with that version, or abandon it: milepost run --new starts again with the open tasks",
        )
    return load_value(RunSpec, record.order)


def refuse_other(record: RunRecord, wish: RunRequest) -> None:
    """An interrupted run goes on as it was started; asking for something else is a new run."""
    order = recorded_order(record)
    asked = (("agent", wish.agent, order.agent), ("parallel", wish.parallel, order.parallel))
    asked_trust = ("trust", wish.trust, TrustLevel.SANDBOXED.value if order.downgraded else order.trust)
    asked_network = ("network", wish.network, as_text(SandboxSettings.model_validate(order.sandbox).network))
    asked_plan = (("order", wish.order, order.planning.sequence), ("group", wish.group, order.planning.grouping))
    asked_rules = (
        ("memory", wish.memory, order.memory.mode),
        ("verify-mode", wish.verify_mode, order.checks.get("mode")),
        ("adaptive-mode", wish.adaptive_mode, order.repairs.mode),
    )
    every = (*asked, asked_trust, asked_network, *asked_plan, *asked_rules)
    differs = [f"--{name} {value}" for name, value, was in every if value not in (None, was)]
    if wish.tasks and {name.lower() for name in wish.tasks} != {name.lower() for name in order.wished}:
        differs += [f"--task {task_id}" for task_id in wish.tasks]
    if wish.held and not order.held:
        differs.append("milepost together")
    if wish.max_tasks not in (None, order.max_tasks):
        differs.append(f"--max-tasks {wish.max_tasks}")
    if differs:
        raise RunUnfinished(
            f"run {order.run} is unfinished, and it was not started with {', '.join(differs)}",
            "milepost resume continues it; milepost run --new abandons it and starts another",
        )
