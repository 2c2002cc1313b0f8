"""The library: everything that the command line does, as typed calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost.core.errors import MilepostError, Misuse
from milepost.core.events import Event
from milepost.core.task import Plan
from milepost.core.verdict import CheckResult, Evidence

if TYPE_CHECKING:
    from milepost.agents.patterns.trial import PatternEntry, PatternTrial
    from milepost.bench.report import Report, TaskReport
    from milepost.core.commands import ExecutionLimits, ExecutionResult, Line
    from milepost.core.events import GateAnswer
    from milepost.core.ports import Agent
    from milepost.detached import Begun
    from milepost.engine.again import Again
    from milepost.engine.anywhere import Ending
    from milepost.engine.arriving import TogetherEnding
    from milepost.engine.by_hand import ByHand
    from milepost.engine.changed import FilesChanged
    from milepost.engine.chaos import ChaosProgress, ChaosReport
    from milepost.engine.composing import Composed
    from milepost.engine.context_now import TaskContext
    from milepost.engine.costs import Costs
    from milepost.engine.doctor import Finding
    from milepost.engine.editing import TaskText
    from milepost.engine.forecast import Forecast
    from milepost.engine.gates import Gate
    from milepost.engine.history import Difference, Tried
    from milepost.engine.in_turn import InTurnEnding
    from milepost.engine.journal import Entry
    from milepost.engine.lease import Worker
    from milepost.engine.look import Proof, Status
    from milepost.engine.marks import Mark
    from milepost.engine.normalising import Normalised
    from milepost.engine.prepare import NothingToDo
    from milepost.engine.proving import Replayed, Verified
    from milepost.engine.renamed import Renamed
    from milepost.engine.replaying import RunReplayed
    from milepost.engine.report.facts import NothingRun, RunStory, TaskAttempt
    from milepost.engine.restore import Restored
    from milepost.engine.retention import Remains
    from milepost.engine.router import Choice
    from milepost.engine.run_files import FileText, RunFiles
    from milepost.engine.run_plan import RunPlan
    from milepost.engine.sync import Synced
    from milepost.engine.tail import EventStream
    from milepost.engine.undo import Undone
    from milepost.engine.viewing import Whose
    from milepost.plan.drawing import GraphForm
    from milepost.plan.family.joint import FamilyPlan
    from milepost.plan.family.kinship import Family
    from milepost.plan.proposals import Proposal
    from milepost.repair.failures import FailureStats
    from milepost.roadmap.explain import Explanation
    from milepost.roadmap.templates import Template
    from milepost.sandbox.changes import Changes
    from milepost.sandbox.executor import WalledExecutor
    from milepost.sandbox.local import LocalExecutor
    from milepost.sandbox.policy import Decision
    from milepost.sandbox.typescript.executor import TypeScriptExecutor
    from milepost.workspace.mileposts import Milepost

OnEvent = Callable[[Event], None]
OnCheck = Callable[[CheckResult], None]


def find_roadmap(roadmap: Path | str | None = None) -> Path:
    """The file that a call means by `roadmap`: the one that is named, or the one of this folder or above it."""
    from milepost.engine.project import find_roadmap as find

    return find(_path(roadmap))


def plan(
    roadmap: Path | str | None = None,
    *,
    order: str | None = None,
    group: str | None = None,
    dialect: str | None = None,
) -> Plan:
    """Read a roadmap and plan it: tasks, waves, and what to look at before money is spent.

    `order`, `group` and `dialect` go before the settings of the same names in [plan] and [roadmap].
    """
    from milepost.engine.elsewhere import with_elsewhere
    from milepost.engine.family import family_of
    from milepost.engine.planning import planned_here
    from milepost.plan.family.waiting import saying_what_waits

    path = find_roadmap(roadmap)
    family = family_of(path)
    made = planned_here(path, {"order": order, "group": group, "dialect": dialect}, family)
    return saying_what_waits(with_elsewhere(made, path, family))


def context(
    task: str, roadmap: Path | str | None = None, *, tokens: int | None = None, agent: str | None = None
) -> TaskContext:
    """What an agent would be shown of the repository with a task; `tokens` is the budget in place of the settings'."""
    from milepost.engine.context_now import context_now

    return context_now(_path(roadmap), task, tokens=tokens, agent=agent)


def assignment(task: str, roadmap: Path | str | None = None) -> str:
    """What an agent would be asked for a task now, as text: the first attempt's prompt."""
    from milepost.engine.assignment_now import assignment_now

    return assignment_now(_path(roadmap), task)


def explain_roadmap(roadmap: Path | str | None = None, *, dialect: str | None = None) -> Explanation:
    """How a roadmap is read: in which dialect, and why each line of it was taken for a task, or was not."""
    from milepost.engine.planning import ways_of
    from milepost.engine.project import read_bytes
    from milepost.roadmap.explain import explain as explained

    path = find_roadmap(roadmap)
    return explained(read_bytes(path), ways_of(path, dialect=dialect)[0])


def task_text(task: str, roadmap: Path | str | None = None) -> TaskText:
    """A task as it is written in the roadmap now: its lines, with those of all below it."""
    from milepost.engine.editing import task_text as look

    return look(_path(roadmap), task)


def edit_task(task: str, text: str, roadmap: Path | str | None = None, *, digest: str = "") -> TaskText:
    """Write other lines for a task into the user's roadmap; every other byte of it stays.

    With `digest` only in the place of those that were shown under it. Refused where it would be another task
    afterwards, or others would change.
    """
    from milepost.engine.editing import edit_task as write

    return write(_path(roadmap), task, text, digest)


def plan_to_json(plan: Plan, forecast: Forecast | None = None) -> dict[str, Any]:
    """A plan as `milepost plan --json` prints it; the critical path is by time where a forecast knows it."""
    from milepost.plan.wire import to_json

    return to_json(plan, forecast.seconds_by_task if forecast is not None else None)


def plan_to_graph(plan: Plan, form: GraphForm) -> str:
    """A plan as `milepost plan --graph` prints it: the text of a Mermaid flowchart or of a Graphviz graph."""
    from milepost.plan.drawing import drawn

    return drawn(plan, form)


def critical_path(plan: Plan, forecast: Forecast | None = None) -> tuple[str, ...]:
    """The longest chain of open tasks, one after the other: by time where a forecast knows it, else by count."""
    from milepost.plan.path import critical_path as longest

    return longest(plan, forecast.seconds_by_task if forecast is not None else None)


def proposals(plan: Plan) -> tuple[Proposal, ...]:
    """How tasks that are too much for one attempt could be split."""
    from milepost.plan.proposals import proposals_for

    return proposals_for(plan)


def projects(folder: Path | str | None = None) -> Family:
    """The projects that a folder's `[workspace]` names, or its manifests declare, and who depends on whom."""
    from milepost.engine.family import family_here

    return family_here(_folder(folder))


def projects_to_json(family: Family) -> dict[str, Any]:
    """Projects as `milepost projects --json` prints them."""
    from milepost.plan.family.kinship import to_json

    return to_json(family)


def names_projects(folder: Path | str) -> bool:
    """Whether the milepost.toml of a folder names several projects, so that these are planned as one."""
    from milepost.engine.family import workspace_members

    return bool(workspace_members(Path(folder), strict=True))


def plan_projects(folder: Path | str | None = None) -> FamilyPlan:
    """One plan over the roadmaps of all projects of a folder."""
    from milepost.engine.joint import plan_family

    return plan_family(_folder(folder))


def projects_plan_to_json(plan: FamilyPlan) -> dict[str, Any]:
    """A plan of several projects as `milepost plan --workspace --json` prints it."""
    from milepost.plan.family.joint import to_json

    return to_json(plan)


def run_projects(
    folder: Path | str | None = None,
    *,
    words: tuple[str, ...] = (),
    budget_usd: float | None = None,
    on_event: Callable[[str, Event], None] | None = None,
) -> InTurnEnding | NothingToDo:
    """Run the projects of a folder one after the other, what each did taken in before the next begins.

    `words` are options of `milepost run` for each of them. `on_event` is told the project's name with each event.
    """
    from milepost.engine.in_turn import InTurnWish, in_turn

    return in_turn(
        InTurnWish(folder=_folder(folder), words=words, budget_usd=budget_usd), on_event or (lambda _, __: None)
    )


def projects_run_to_json(ending: InTurnEnding | NothingToDo) -> dict[str, Any]:
    """The last line of `milepost run --workspace --json`."""
    from milepost.engine.in_turn import to_json

    return to_json(ending)


def event_to_json(event: Event) -> dict[str, Any]:
    """An event as one line of `milepost run --json`: its kind first."""
    from milepost.engine.journal import event_to_json as to_json

    return to_json(event)


def proof_to_json(proof: Proof) -> dict[str, Any]:
    """A proof as `milepost proof --json` prints it."""
    from milepost.verify.proof import to_json

    return to_json(task=proof.task, run=proof.run, attempt=proof.attempt, commit=proof.commit, evidence=proof.evidence)


def evidence_to_json(evidence: Evidence) -> dict[str, Any]:
    """Evidence as `milepost verify --json` prints it."""
    from milepost.verify.proof import evidence_to_json as to_json

    return to_json(evidence)


def run(
    roadmap: Path | str | None = None,
    *,
    agent: str | Agent | None = None,
    parallel: int | None = None,
    trust: str | None = None,
    network: str | None = None,
    tasks: tuple[str, ...] = (),
    max_tasks: int | None = None,
    new: bool = False,
    budget_usd: float | None = None,
    approve: str | None = None,
    ordered: bool = False,
    held: bool = False,
    met: tuple[str, ...] = (),
    stays: bool = False,
    database: str | None = None,
    remote: str | None = None,
    record: Path | str | None = None,
    order: str | None = None,
    group: str | None = None,
    dialect: str | None = None,
    memory: str | None = None,
    on_event: OnEvent | None = None,
) -> Ending:
    """Work on a roadmap until every open task has its milepost or its reason; goes on with an interrupted run.

    `agent` is a name, or an object with the `Agent` port's method; an object must be given again to `resume`.
    `stays` waits for people who are asked; without it the run is left when only they are waited for.
    `held` leaves the user's branch where it is, whatever passed. `met` are tasks of other projects (`api:1.2`)
    that have their mileposts, though these are not taken in there. With `database`, the address of a PostgreSQL server,
    the run is submitted to the workers there. `record` is a file for all that agents answered and did, as a cassette.
    `memory` is `on`, `off` or `read-only`.
    """
    from milepost.engine import anywhere
    from milepost.engine.prepare import Wish
    from milepost.engine.recording import taped
    from milepost.engine.rooms import Company

    wish = Wish(
        roadmap=_path(roadmap),
        agent=_name(agent),
        parallel=parallel,
        trust=trust,
        network=network,
        tasks=tasks,
        max_tasks=max_tasks,
        new=new,
        budget_usd=budget_usd,
        approve=approve,
        ordered=ordered or None,
        held=held,
        met=met,
        database=database,
        remote=remote,
        order=order,
        group=group,
        dialect=dialect,
        memory=memory,
    )
    with taped(_path(roadmap), _path(record), on_event or _ignore, database) as hear:
        return anywhere.run(wish, Company(on_event=hear, agents=_given(agent), stays=stays))


def preview(
    roadmap: Path | str | None = None,
    *,
    agent: str | Agent | None = None,
    parallel: int | None = None,
    trust: str | None = None,
    network: str | None = None,
    tasks: tuple[str, ...] = (),
    max_tasks: int | None = None,
    new: bool = False,
    order: str | None = None,
    group: str | None = None,
    dialect: str | None = None,
) -> tuple[str, ...] | NothingToDo:
    """The tasks that `run` would work on, in the order they may start; refuses what `run` refuses, changes nothing."""
    from milepost.engine.prepare import Wish
    from milepost.engine.preview import preview as look_ahead

    wish = Wish(
        roadmap=_path(roadmap),
        agent=_name(agent),
        parallel=parallel,
        trust=trust,
        network=network,
        tasks=tasks,
        max_tasks=max_tasks,
        new=new,
        order=order,
        group=group,
        dialect=dialect,
    )
    return look_ahead(wish, _given(agent))


def resume(
    roadmap: Path | str | None = None,
    *,
    agent: Agent | None = None,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
    record: Path | str | None = None,
    on_event: OnEvent | None = None,
) -> Ending:
    """Go on with the run that was interrupted; its flags are recorded, but for `record`. A new budget may be given."""
    from milepost.engine import anywhere
    from milepost.engine.recording import taped
    from milepost.engine.rooms import Company

    where = anywhere.Whereabouts(roadmap=_path(roadmap), database=database)
    with taped(_path(roadmap), _path(record), on_event or _ignore, database) as hear:
        return anywhere.resume(where, Company(on_event=hear, agents=_given(agent), stays=stays), budget_usd)


def start_detached(
    roadmap: Path | str | None = None,
    *,
    agent: str | None = None,
    parallel: int | None = None,
    tasks: tuple[str, ...] = (),
    max_tasks: int | None = None,
    budget_usd: float | None = None,
    new: bool = False,
    stays: bool = False,
    database: str | None = None,
) -> Begun:
    """Start a run as `run` does, in a process of its own that outlives this one; gives what came of the start."""
    from milepost.departing import depart
    from milepost.detached import StartWish

    wish = StartWish(
        roadmap=find_roadmap(roadmap),
        agent=agent,
        parallel=parallel,
        tasks=tasks,
        max_tasks=max_tasks,
        budget_usd=budget_usd,
        new=new,
        stays=stays,
        database=database,
    )
    return depart(wish)


def resume_detached(
    roadmap: Path | str | None = None,
    *,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
) -> Begun:
    """Go on with the run that was interrupted, or paused, in a process of its own that outlives this one."""
    from milepost.departing import depart
    from milepost.detached import StartWish

    path = find_roadmap(roadmap)
    return depart(StartWish(roadmap=path, resume=True, budget_usd=budget_usd, stays=stays, database=database))


def retry(
    task: str,
    roadmap: Path | str | None = None,
    *,
    agent: str | None = None,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
    on_event: OnEvent | None = None,
) -> Ending:
    """Try a task once more in a run of its own, held as the run that it was tried in last.

    Its agent, walls, gates and what is left of its budget stay as they were, but for what is given here.
    """
    again = _once_more(task, roadmap, agent, budget_usd, database)
    return run(
        roadmap,
        tasks=(task,),
        stays=stays,
        database=database,
        on_event=on_event,
        **again.as_wish(),
    )


def retry_detached(
    task: str,
    roadmap: Path | str | None = None,
    *,
    agent: str | None = None,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
) -> Begun:
    """Try a task once more as `retry` does, in a process of its own that outlives this one; `held` says how."""
    from milepost.departing import depart
    from milepost.detached import StartWish

    again = _once_more(task, roadmap, agent, budget_usd, database)
    wish = StartWish(
        roadmap=find_roadmap(roadmap),
        tasks=(task,),
        stays=stays,
        database=database,
        **again.as_wish(),
    )
    return depart(wish).model_copy(update={"held": str(again)})


def _once_more(
    task: str, roadmap: Path | str | None, agent: str | None, budget_usd: float | None, database: str | None
) -> Again:
    from milepost.engine.again import Retry, once_more

    return once_more(Retry(task=task, roadmap=_path(roadmap), agent=agent, budget_usd=budget_usd, database=database))


def why_it_ended(run: str, roadmap: Path | str | None = None) -> str:
    """Why a run in a process of its own came to no end, empty where nothing is known."""
    from milepost.detached import why_it_ended as look

    return look(find_roadmap(roadmap), run)


def last_agent(task: str, roadmap: Path | str | None = None, *, database: str | None = None) -> str | None:
    """Who tried a task last; None where nobody did, and the settings say who would."""
    from milepost.engine.again import Retry
    from milepost.engine.again import last_agent as look

    return look(Retry(task=task, roadmap=_path(roadmap), database=database))


def steer(
    kind: str,
    roadmap: Path | str | None = None,
    *,
    task: str = "",
    value: str = "",
    run: str | None = None,
    database: str | None = None,
) -> str:
    """Ask something of the run that is on: pause, finish, drop a task, another agent, parallel; gives the run's id.

    A `note` is words to whoever makes the attempts that begin from then on: at one task, or at all without one.
    With `run` it is refused where another would be asked.
    """
    from milepost.engine import anywhere
    from milepost.engine.hands import require_name
    from milepost.engine.steering import request

    if kind == "agent" and value:
        require_name(value)
    where = anywhere.Whereabouts(roadmap=_path(roadmap), database=database, run=run)
    return anywhere.steer(where, request(kind, task, value))


def stop(
    roadmap: Path | str | None = None, *, at_once: bool = False, run: str | None = None, database: str | None = None
) -> str | None:
    """Stop the run that is going on in another process, and wait until it has; gives its id, None without one.

    With `run` it is refused where another would be stopped.
    """
    from milepost.engine import anywhere

    where = anywhere.Whereabouts(roadmap=_path(roadmap), database=database, run=run)
    return anywhere.stop(where, at_once=at_once)


def status(roadmap: Path | str | None = None, *, database: str | None = None) -> Status | None:
    """The newest run and all that happened in it."""
    from milepost.engine import look

    return look.status(_path(roadmap), database)


def events(
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    after: int = 0,
    follow: bool = False,
    printed: bool = False,
    database: str | None = None,
) -> Iterator[Entry]:
    """The events of a run in their order, the newest run unless another is named; `after` is a place in the stream.

    With `follow` they come as they happen, until the run is over; with `printed` also what commands print.
    """
    from milepost.engine.stream import events as read_events

    return read_events(_path(roadmap), run, after, follow=follow, printed=printed, server=database)


def open_stream(roadmap: Path | str | None = None, *, database: str | None = None) -> EventStream:
    """The events of all runs for who stays and reads on, also from before the first run; close it in the end."""
    from milepost.engine.tail import open_stream as open_it

    return open_it(_path(roadmap), database)


def state_folder(roadmap: Path | str | None = None) -> Path:
    """The state directory of a roadmap, which is made where it is not there yet."""
    from milepost.engine.project import Project
    from milepost.engine.state import make_state

    state = Project.find(_path(roadmap)).state
    make_state(state)
    return state


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """An event as one line of `milepost events --json`: its place in the stream, the stream's version, when, what."""
    from milepost.engine.stream import entry_to_json as to_json

    return to_json(entry)


def report(
    roadmap: Path | str | None = None, *, run: str | None = None, database: str | None = None
) -> RunStory | NothingRun:
    """All that is told of a run, running, interrupted or over; the newest unless another is named."""
    from milepost.engine.report.gather import gather

    return gather(_path(roadmap), run, database)


def report_to_html(story: RunStory | NothingRun) -> str:
    """A report as one HTML page that needs nothing else."""
    from milepost.engine.report.page.page import render

    return render(story)


def report_to_markdown(story: RunStory | NothingRun) -> str:
    """A report as Markdown, for a pull request."""
    from milepost.engine.report.markdown import render

    return render(story)


def report_place(run: str, roadmap: Path | str | None = None, *, ending: str = "html") -> Path:
    """Where `milepost report` puts the report of a run when no file is named."""
    from milepost.engine.report.write import place

    return place(_path(roadmap), run, ending)


def write_report(text: str, path: Path | str) -> None:
    """Put a report into a file, whole or not at all."""
    from milepost.engine.report.write import write

    write(text, Path(path))


def attempt_story(
    task: str,
    attempt: int | None = None,
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    database: str | None = None,
) -> TaskAttempt:
    """What is told of one attempt: why it was refused, its checks before and after, cost, time, what it left.

    The newest attempt at the task is meant, and the newest run, unless others are named; one under way counts.
    """
    from milepost.engine.report.attempt import attempt_story as tell

    return tell(_whose(roadmap, run, database), task, attempt)


def attempt_logs(
    task: str,
    attempt: int | None = None,
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    database: str | None = None,
) -> tuple[tuple[str, str], ...]:
    """The whole output of each check of one attempt: its name and the text."""
    from milepost.engine.report.attempt import attempt_logs as read_logs

    return read_logs(_whose(roadmap, run, database), task, attempt)


def changed_files(
    task: str,
    attempt: int | None = None,
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    database: str | None = None,
) -> FilesChanged:
    """The files that one attempt changed, with their text before and after; how much is shown is bounded."""
    from milepost.engine.changed import changed_files as look

    return look(_whose(roadmap, run, database), task, attempt)


def run_files(run: str | None = None, roadmap: Path | str | None = None, *, database: str | None = None) -> RunFiles:
    """The files of a run's branch, with what the run changed; the newest run unless another is named."""
    from milepost.engine.run_files import run_files as look

    return look(_whose(roadmap, run, database))


def file_at(
    run: str | None, path: str, roadmap: Path | str | None = None, *, database: str | None = None
) -> FileText | None:
    """One file of a run's branch as it is now, from git's objects; None where there is none of this name."""
    from milepost.engine.run_files import file_at as look

    return look(_whose(roadmap, run, database), path)


def run_plan(run: str | None = None, roadmap: Path | str | None = None, *, database: str | None = None) -> RunPlan:
    """The tasks of the roadmap as it is now, as a run sees them; those of the run that are gone from it are there, too.

    The newest run is meant unless another is named; where nothing was run yet, it is the roadmap alone.
    """
    from milepost.engine.run_plan import run_plan as look

    return look(_whose(roadmap, run, database))


def costs(roadmap: Path | str | None = None, *, run: str | None = None, database: str | None = None) -> Costs | None:
    """What a run cost, by task, model and agent: the newest unless one is named; None where nothing was run."""
    from milepost.engine.costs import costs as add_up

    return add_up(_path(roadmap), run, database)


def forecast(roadmap: Path | str | None = None, made: Plan | None = None) -> Forecast | None:
    """What the open tasks of a roadmap will take; None where nothing similar was done here yet.

    `made` is its plan, where that was made already.
    """
    from milepost.engine.foresee import foresee

    return foresee(find_roadmap(roadmap), made or plan(roadmap))


def choices(roadmap: Path | str | None = None, made: Plan | None = None) -> dict[str, Choice]:
    """Whom the router would choose for the open tasks that leave it to the agent `auto`, by their ids."""
    from milepost.engine.routing import foretell

    return foretell(find_roadmap(roadmap), made or plan(roadmap))


def log(roadmap: Path | str | None = None) -> tuple[Milepost, ...]:
    """The mileposts, newest first."""
    from milepost.engine import look

    return look.log(_path(roadmap))


def sync(roadmap: Path | str | None = None, *, dry_run: bool = False) -> Synced:
    """Bring the roadmap, git and the database to agree: boxes follow the mileposts of the branch, the rest is told."""
    from milepost.engine.sync import sync as bring_to_agree

    return bring_to_agree(_path(roadmap), dry_run=dry_run)


def renamed(roadmap: Path | str | None = None) -> tuple[Renamed, ...]:
    """The tasks of a roadmap that were worked on under another name."""
    from milepost.engine.project import state_of

    if not (state_of(find_roadmap(roadmap)) / "milepost.db").exists():
        return ()
    from milepost.engine.look import renamed as look_for

    return look_for(_path(roadmap))


def proof(task: str, roadmap: Path | str | None = None) -> Proof:
    """The evidence for a task's milepost, or for its last attempt where it has none."""
    from milepost.engine import look

    return look.proof(_path(roadmap), task)


def logs(task: str, roadmap: Path | str | None = None) -> tuple[tuple[str, str], ...]:
    """The whole output of each check behind a task's proof: its name and the text."""
    from milepost.engine import look

    return look.logs(_path(roadmap), task)


def verify(task: str | None = None, roadmap: Path | str | None = None, *, on_check: OnCheck | None = None) -> Verified:
    """Put the checks to the files as they are now, committed or not; `task` adds what that task asks for."""
    from milepost.engine.proving import verify_now

    return verify_now(_path(roadmap), task, on_check or _ignore_check)


def replay(task: str, roadmap: Path | str | None = None, *, on_check: OnCheck | None = None) -> Replayed:
    """Prove a milepost again on the tree that it recorded, and compare with the evidence that it carries."""
    from milepost.engine.proving import replay as prove_again

    return prove_again(_path(roadmap), task, on_check or _ignore_check)


def replay_run(
    run: str,
    roadmap: Path | str | None = None,
    *,
    task: str = "",
    folder: Path | str | None = None,
    on_event: OnEvent | None = None,
) -> RunReplayed:
    """Do a finished run again in a clone, by what its agents did then, and compare the trees of its mileposts.

    The clone is made in `folder`, and stays there; without one it stays only where the trees differ.
    """
    from milepost.engine.replaying import replay_run as do_again

    return do_again(_path(roadmap), run, task=task, folder=_path(folder), on_event=on_event or _ignore)


def run_replayed_to_json(replayed: RunReplayed) -> dict[str, Any]:
    """The last line of `milepost replay --json`."""
    from milepost.engine.replaying import to_json

    return to_json(replayed)


def failures(roadmap: Path | str | None = None) -> tuple[FailureStats, ...]:
    """What failed here, most often first, and what mended it."""
    from milepost.engine import look

    return look.failures(_path(roadmap))


def undo(
    tasks: str | Sequence[str] = (),
    roadmap: Path | str | None = None,
    *,
    to: str = "",
    with_dependents: bool = False,
    dry_run: bool = False,
) -> Undone:
    """Take the mileposts of tasks back, or all that landed after the place `to`, and keep all others.

    It refuses where later mileposts depend on them, unless `with_dependents` takes those back, too.
    """
    from milepost.engine.undo import undo as take_back

    named = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    return take_back(_path(roadmap), named, to=to, with_dependents=with_dependents, dry_run=dry_run)


def restore(files: Sequence[Path | str], roadmap: Path | str | None = None, *, source: str) -> Restored:
    """Write files as a place has them (a task, `1.1#2`, a mark, a commit) into the user's tree; commits nothing."""
    from milepost.engine.restore import restore as bring_back

    return bring_back(_path(roadmap), files, source=source)


def attempts(task: str, roadmap: Path | str | None = None) -> tuple[Tried, ...]:
    """Every attempt at a task in every run, failed or not, oldest first."""
    from milepost.engine.history import attempts as list_attempts

    return list_attempts(_path(roadmap), task)


def diff(place: str, other: str = "", roadmap: Path | str | None = None, *, stat: bool = False) -> Difference:
    """What a milepost or an attempt changed; with `other`, what differs from the one to the other."""
    from milepost.engine.history import diff as compare

    return compare(_path(roadmap), place, other, stat=stat)


def mark(name: str, roadmap: Path | str | None = None, *, at: str = "") -> Mark:
    """Give a name to a place, or to the commit that the user stands on."""
    from milepost.engine.marks import mark as put

    return put(_path(roadmap), name, at)


def marks(roadmap: Path | str | None = None) -> tuple[Mark, ...]:
    """The marks, by name."""
    from milepost.engine.marks import marks as list_marks

    return list_marks(_path(roadmap))


def unmark(name: str, roadmap: Path | str | None = None) -> Mark:
    """Take a mark away; the commit stays."""
    from milepost.engine.marks import unmark as take_away

    return take_away(_path(roadmap), name)


def clean(
    roadmap: Path | str | None = None,
    *,
    keep_days: float | None = None,
    database: str | None = None,
    dry_run: bool = False,
) -> Remains:
    """Remove what runs left that ended more than `keep_days` ago; mileposts and their proofs stay."""
    from milepost.engine.retention import clean as remove

    return remove(_path(roadmap), keep_days=keep_days, database=database, dry_run=dry_run)


def memory_to_json(value: object) -> Any:
    """A value of the memory, such as an episode or a lesson, as `milepost memory … --json` prints it."""
    from milepost.memory.wire import plain

    return plain(value)


def waiting_gates(roadmap: Path | str | None = None, *, database: str = "") -> tuple[Gate, ...]:
    """What waits for a person: the questions of all unfinished runs, the oldest first.

    `database` is the address of the one that the runs share, where that is not in the settings.
    """
    from milepost.engine.answering import waiting_gates as waiting

    return waiting(_path(roadmap), database)


def answer_gate(
    gate: str | None,
    answer: GateAnswer,
    text: str = "",
    roadmap: Path | str | None = None,
    *,
    digest: str = "",
    by: str = "",
    database: str = "",
) -> Gate:
    """Answer what waits for a person; `gate` is its name or its task's, None for the only one there is.

    `text` is the reason of a `reject`, what to `edit`, or the agent to `delegate` to. With `digest` the answer is to
    what was shown under it, and to nothing else.
    """
    from milepost.engine.answering import answer_gate as keep

    return keep(_path(roadmap), gate, answer, text, digest=digest, by=by, database=database)


def running(roadmap: Path | str | None = None) -> str | None:
    """The run that a process works on here now, None where there is none."""
    from milepost.engine.answering import running as going_on

    return going_on(_path(roadmap))


def gate_to_json(gate: Gate) -> dict[str, Any]:
    """A gate as `milepost gates --json` prints it."""
    from milepost.engine.answering import gate_to_json as to_json

    return to_json(gate)


def init(
    folder: Path | str | None = None,
    *,
    prompt: str | None = None,
    template: str = "",
    style: str = "standard",
    model: str | None = None,
    say: Callable[[str], None] | None = None,
) -> tuple[Path, ...]:
    """Set a repository up with a first roadmap and settings, where there are none; gives the files it made.

    The roadmap is the usual example, or one from a template, or what a model makes of `prompt`.
    """
    from milepost.engine.init import init as set_up

    where = Path(folder or ".")
    if prompt is None and not template:
        return set_up(where)
    from milepost.engine.composing import ComposeWish

    wish = ComposeWish(folder=where, prompt=prompt or "", template=template, style=style, model=model)
    return set_up(where, wish, say or _unsaid)


def new_roadmap(
    folder: Path | str | None = None,
    *,
    prompt: str = "",
    template: str = "",
    style: str = "standard",
    write: Path | str | None = None,
    model: str | None = None,
    force: bool = False,
    say: Callable[[str], None] | None = None,
) -> Composed:
    """A new roadmap for the project of a folder: from a template, or what a model makes of `prompt`.

    `style` is minimal, standard or detailed. It is written only where `write` says so; `force` replaces a file.
    """
    from milepost.engine.composing import ComposeWish, compose

    wish = ComposeWish(
        folder=Path(folder or "."),
        prompt=prompt,
        template=template,
        style=style,
        write=_path(write),
        model=model,
        force=force,
    )
    return compose(wish, say or _unsaid)


def roadmap_templates() -> tuple[Template, ...]:
    """The templates that `new_roadmap` and `init` know."""
    from milepost.roadmap.templates import template_named, template_names

    return tuple(template_named(name) for name in template_names())


def normalise(
    document: Path | str | None = None,
    *,
    write: Path | str | None = None,
    model: str | None = None,
    force: bool = False,
    anyway: bool = False,
    say: Callable[[str], None] | None = None,
) -> Normalised:
    """Have a model read a document in prose: the tasks that it asks for, each with its line. Asked once a content.

    The roadmap is written only where `write` says so; `force` replaces a file. `anyway` also has a document read whose
    tasks can be read without a model.
    """
    from milepost.engine.normalising import NormaliseWish
    from milepost.engine.normalising import normalise as read_with_model

    wish = NormaliseWish(source=_path(document), write=_path(write), model=model, force=force, anyway=anyway)
    return read_with_model(wish, say or _unsaid)


def doctor(folder: Path | str | None = None) -> tuple[Finding, ...]:
    """What works on this machine and what is missing."""
    from milepost.engine.doctor import examine

    return examine(_path(folder) or Path.cwd())


def agent(name: str, folder: Path | str | None = None) -> Agent:
    """The agent of a name, as `--agent` takes it; relative paths in it start from `folder`, the roadmap's."""
    from milepost.engine.settings import load
    from milepost.engine.staff import make_agent

    place = _path(folder) or Path.cwd()
    return make_agent(name, load(place), place)


def execute(
    code: str,
    *,
    lang: str = "python",
    trust: str | None = None,
    network: str | None = None,
    limits: ExecutionLimits | None = None,
    workspace: Path | str | None = None,
    container: str | None = None,
    image: str | None = None,
    on_changes: Callable[[Changes], None] | None = None,
) -> ExecutionResult:
    """Run code in the sandbox, once; all but `on_changes` is as for `open_executor`.

    Where changes to the workspace are held back, `on_changes` is given them when the code is over, to look at and to
    accept. What it does not accept is dropped.
    """
    from milepost.sandbox.executor import WalledExecutor

    with open_executor(
        lang=lang,
        trust=trust,
        network=network,
        limits=limits,
        workspace=workspace,
        container=container,
        image=image,
    ) as executor:
        result = executor.run(code)
        if on_changes is not None and isinstance(executor, WalledExecutor) and executor.holds_changes:
            with executor.changes() as changes:
                on_changes(changes)
        return result


def open_executor(
    *,
    lang: str = "python",
    trust: str | None = None,
    network: str | None = None,
    limits: ExecutionLimits | None = None,
    workspace: Path | str | None = None,
    container: str | None = None,
    image: str | None = None,
) -> LocalExecutor | WalledExecutor | TypeScriptExecutor:
    """Somewhere to run code in the sandbox whose variables stay: `python`, `typescript` or `javascript`.

    `network` is none, as without it, loopback, open, or hosts with commas between them. `container` is podman or
    docker, in the place of a trust level. Without a level it is that of `MILEPOST_TRUST` or of the settings here, else
    the strongest. At level sandboxed, changes to the workspace are held back.
    """
    from milepost.core.commands import NO_NETWORK
    from milepost.engine.networks import network_named
    from milepost.engine.settings import load
    from milepost.sandbox import executors

    if not container:
        level = load(Path.cwd()).run.trust
        trust = trust or (level.value if level else None)
    network = network or os.environ.get("MILEPOST_NETWORK")
    holder = executors.holder_named(trust, container, image)
    reached = network_named(network) if network else NO_NETWORK
    return executors.open_executor(holder, limits, lang=lang, workspace=_folder(workspace), network=reached)


def sh(
    argv: Sequence[str],
    *,
    shell: bool = False,
    timeout_s: float | None = None,
    trust: str | None = None,
    folder: Path | str | None = None,
    on_line: Callable[[Line], None] | None = None,
    ask: Callable[[Decision], bool] | None = None,
) -> ByHand:
    """Run one command under the policy of a folder and in the sandbox; with `shell` its one word is a shell's text.

    `ask` says whether a command that the policy asks about may run; without it such a command is refused.
    """
    from milepost.core.commands import trust_named
    from milepost.engine.by_hand import HandWish, run_by_hand

    wish = HandWish(
        argv=tuple(argv),
        folder=(_path(folder) or Path.cwd()).absolute(),
        shell=shell,
        trust=trust_named(trust) if trust else None,
        timeout_s=timeout_s,
    )
    return run_by_hand(wish, on_line or (lambda _: None), ask or (lambda _: False))


def explain(
    argv: Sequence[str], *, shell: bool = False, timeout_s: float | None = None, folder: Path | str | None = None
) -> ByHand:
    """What the policy of a folder decides about a command, and how long it may take; nothing is run."""
    from milepost.engine.by_hand import HandWish
    from milepost.engine.by_hand import explain as look_ahead

    place = (_path(folder) or Path.cwd()).absolute()
    return look_ahead(HandWish(argv=tuple(argv), folder=place, shell=shell, timeout_s=timeout_s))


def bench(agent: str, *, tasks: tuple[str, ...] = (), on_result: Callable[[TaskReport], None] | None = None) -> Report:
    """Let an agent do the benchmark's tasks, judged by checks that it never sees.

    `reference` is an agent that brings the solutions, `null` one that does nothing.
    """
    from milepost.bench import run_bench

    return run_bench(agent, tasks, None, on_result)


def bench_to_json(report: Report) -> dict[str, Any]:
    """The report of a benchmark as `milepost bench --json` prints it."""
    from milepost.bench import to_json

    return to_json(report)


def bench_rows(report: Report) -> list[tuple[str, ...]]:
    """The report of a benchmark as rows of words: headings, a row a task, the sums."""
    from milepost.bench import rows

    return rows(report)


def chaos(
    roadmap: Path | str | None = None,
    *,
    cassette: Path | str | None = None,
    tasks: int | None = None,
    every_boundary: bool = True,
    random: int = 30,
    parallel: int = 1,
    seed: int = 0,
    keep: bool = False,
    on_progress: Callable[[ChaosProgress], None] | None = None,
) -> ChaosReport:
    """Kill a run of a roadmap over and over, in copies aside, and count what was lost or done twice.

    `cassette` names the recorded answers; without a roadmap a sample of so many `tasks` is used.
    """
    from milepost.engine.chaos import ChaosWish, run_chaos

    wish = ChaosWish(
        roadmap=_path(roadmap),
        cassette=_path(cassette),
        tasks=tasks,
        every_boundary=every_boundary,
        random=random,
        parallel=parallel,
        seed=seed,
        keep=keep,
    )
    return run_chaos(wish, on_progress or (lambda _: None))


def chaos_to_json(report: ChaosReport) -> dict[str, Any]:
    """The report of chaos as `milepost chaos --json` prints it."""
    from milepost.engine.chaos import to_json

    return to_json(report)


def chaos_rows(report: ChaosReport) -> list[tuple[str, ...]]:
    """The report of chaos as rows of words: headings, and a row for each thing that was counted."""
    from milepost.engine.chaos import rows

    return rows(report)


def chaos_findings(report: ChaosReport) -> list[str]:
    """Each thing that should not be in a report of chaos, in a line; none when it passed."""
    from milepost.engine.chaos import findings

    return findings(report)


def demo(
    folder: Path | str, *, on_event: OnEvent | None = None, on_made: Callable[[Path], None] | None = None
) -> Ending:
    """Make the sample repository in an empty folder and run its roadmap, with no key and no network.

    `on_made` is told the roadmap before it is run.
    """
    from milepost.demo import run_demo

    return run_demo(Path(folder), on_event or _ignore, on_made or (lambda _: None))


def sample_roadmap() -> str:
    """The roadmap of the sample repository, as it is before the demonstration."""
    from milepost.demo import SAMPLE

    return (SAMPLE / "ROADMAP.md").read_text(encoding="utf-8")


def together(
    *roadmaps: Path | str,
    mark: str | None = None,
    agent: str | None = None,
    budget_usd: float | None = None,
    new: bool = False,
    on_event: Callable[[str, Event], None] | None = None,
) -> TogetherEnding | NothingToDo:
    """Work on the roadmaps of several repositories as one: all of them get their mileposts and one mark, or none does.

    Goes on with what was begun or decided before; without roadmaps with that of this folder. `on_event` is told the
    project's name with each event.
    """
    from milepost.engine.together import TogetherWish
    from milepost.engine.together import together as work_together

    paths = tuple(Path(roadmap) for roadmap in roadmaps)
    wish = TogetherWish(roadmaps=paths, mark=mark, agent=agent, budget_usd=budget_usd, new=new)
    return work_together(wish, on_event or (lambda _, __: None))


def together_to_json(ending: TogetherEnding | NothingToDo) -> dict[str, Any]:
    """The last line of `milepost together --json`."""
    from milepost.engine.arriving import to_json

    return to_json(ending)


def work(
    *,
    database: str | None = None,
    remote: str | None = None,
    capacity: int | None = None,
    labels: tuple[str, ...] = (),
    name: str | None = None,
    folder: Path | str | None = None,
    on_event: OnEvent | None = None,
    on_ready: Callable[[Worker], None] | None = None,
    on_lost: Callable[[MilepostError], None] | None = None,
) -> None:
    """Be a worker until interrupted: take tasks of the runs that were submitted to a database.

    What is left open comes from the milepost.toml of `folder`. When others took over from this worker, `on_lost` is
    called and the process ends at once with exit code 3.
    """
    from milepost.engine.hire import hired
    from milepost.engine.worker import work as take_turns

    settings = _path(folder) or Path.cwd()
    hire = hired(settings, database=database, remote=remote, capacity=capacity, labels=labels, name=name)
    take_turns(hire, on_event or _ignore, on_lost or (lambda _: None), on_ready or (lambda _: None))


def _whose(roadmap: Path | str | None, run: str | None, database: str | None) -> Whose:
    from milepost.engine.viewing import Whose

    return Whose(roadmap=_path(roadmap), run=run, server=database)


def _path(path: Path | str | None) -> Path | None:
    return Path(path) if path is not None else None


def _folder(path: Path | str | None) -> Path | None:
    """A folder that is to be worked in, which must be there."""
    if path is not None and not Path(path).is_dir():
        raise Misuse(f"there is no folder {str(path)!r}", "make it, or name another")
    return None if path is None else Path(path).absolute()


def _given(agent: str | Agent | None) -> dict[str, Agent]:
    return {} if agent is None or isinstance(agent, str) else {f"object:{type(agent).__name__}": agent}


def _name(agent: str | Agent | None) -> str | None:
    return agent if agent is None or isinstance(agent, str) else next(iter(_given(agent)))


def _unsaid(_: str) -> None:
    pass


def _ignore(_: Event) -> None:
    pass


def _ignore_check(_: CheckResult) -> None:
    pass


def patterns(folder: Path | str | None = None) -> tuple[PatternEntry, ...]:
    """The patterns that are known in a folder: those that ship, the project's own, those of installed packages."""
    from milepost.engine.patterns import listed

    return listed((_folder(folder) or Path.cwd()).absolute())


def pattern(name: str, folder: Path | str | None = None) -> PatternEntry:
    """One pattern of a folder, with what it takes."""
    from milepost.engine.patterns import entry_named

    return entry_named(name, (_folder(folder) or Path.cwd()).absolute())


def try_pattern(
    name: str, inputs: Mapping[str, str], *, write: bool = False, folder: Path | str | None = None
) -> PatternTrial:
    """What a pattern would change in a folder, as a diff; with `write` it is changed."""
    from milepost.engine.patterns import try_out

    return try_out(name, inputs, (_folder(folder) or Path.cwd()).absolute(), write=write)
