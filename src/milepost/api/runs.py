"""Runs in this process: start, preview, resume, retry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from milepost.api.arguments import agents_in, ignore, name_of, path_of
from milepost.api.machines import agree_to_settings

if TYPE_CHECKING:
    from pathlib import Path

    from milepost.api.arguments import OnEvent
    from milepost.core.ports import Agent
    from milepost.engine.records.run_request import NothingToDo, RunOptions, RunRequest
    from milepost.engine.workers.dispatch import Ending


def run(
    roadmap: Path | str | None = None,
    *,
    agent: str | Agent | None = None,
    stays: bool = False,
    record: Path | str | None = None,
    on_event: OnEvent | None = None,
    yes_settings: bool = False,
    **options: Unpack[RunOptions],
) -> Ending:
    """Run a roadmap until every open task has its milepost or a reason why not; resumes an interrupted run.

    `agent` is a name, or an object with the method of `Agent`; an object must be given again to `resume`.
    `stays` waits for answers at gates; without it the run is suspended when only answers are missing. `record` is a
    file for all that agents answered and did, as a cassette. `on_event` gets every event as it happens. `yes_settings`
    agrees, until this process ends, to what the repository sets now that reaches beyond it; without an agreement that
    is refused with `errors.SettingsNotAgreed`.

    The other keywords; the settings decide about what is left out or None:

        tasks       only these, by their ids
        max_tasks   at most this number of tasks
        new         start a new run instead of resuming an interrupted one
        parallel    the number of attempts at the same time
        trust       `isolated` or `sandboxed`; the default is the strongest level of this machine
        network     what commands may reach: `none`, `loopback`, `open`, or hosts separated by commas
        budget_usd  the budget limit of the run
        approve     when a person is asked: `each`, `risky` or `never`
        ordered     merge in the order of the plan
        order       `free`, as dependencies allow, or `outline`, as the roadmap lists it
        group       small tasks in one attempt: `none`, `section` or `smart`
        dialect     how the roadmap is written: `boxes`, `emoji`, `table` …
        memory      `on`, `off` or `read-only`
        verify_mode what is checked: `auto`, `pytest`, `agent` or `skip`
        adaptive_mode  what follows a failure: `auto-fix`, `suggest` or `no-adapt`
        held        do not move the user's branch, whatever passed
        met         tasks of other projects (`api:1.2`) that are done, though not merged there yet
        database    a PostgreSQL server whose workers do the run
        remote      the git remote that these workers share
    """
    from milepost.engine.records.run_request import RunRequest

    if yes_settings:
        agree_to_settings(roadmap, for_this_process=True)
    wish = RunRequest(roadmap=path_of(roadmap), agent=name_of(agent), **options)
    return run_request(wish, agents=agents_in(agent), stays=stays, record=record, on_event=on_event)


def run_request(
    wish: RunRequest,
    *,
    agents: dict[str, Agent] | None = None,
    stays: bool = False,
    record: Path | str | None = None,
    on_event: OnEvent | None = None,
) -> Ending:
    """Run a request until it is finished; `agents` are its agent objects by name."""
    from milepost.engine.records.run_request import Caller
    from milepost.engine.replay.record import taped
    from milepost.engine.workers import dispatch

    with taped(wish.roadmap, path_of(record), on_event or ignore, wish.database) as hear:
        return dispatch.run(wish, Caller(on_event=hear, agents=agents or {}, stays=stays))


def preview(
    roadmap: Path | str | None = None, *, agent: str | Agent | None = None, **options: Unpack[RunOptions]
) -> tuple[str, ...] | NothingToDo:
    """The tasks that `run` would work on, in the order they may start, by the same keywords.

    It refuses what `run` refuses, and changes nothing.
    """
    from milepost.engine.records.run_request import RunRequest
    from milepost.engine.run.dry_run import preview as look_ahead

    return look_ahead(RunRequest(roadmap=path_of(roadmap), agent=name_of(agent), **options), agents_in(agent))


def resume(
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    agent: Agent | None = None,
    budget_usd: float | None = None,
    stays: bool = False,
    database: str | None = None,
    record: Path | str | None = None,
    on_event: OnEvent | None = None,
    yes_settings: bool = False,
) -> Ending:
    """Resume the interrupted run, with its recorded flags except `record`; the budget may be changed.

    Only the newest run can be resumed. With `run` it is refused if that is another run. `yes_settings` is as for `run`.
    """
    from milepost.engine.records.run_request import Caller
    from milepost.engine.replay.record import taped
    from milepost.engine.workers import dispatch

    if yes_settings:
        agree_to_settings(roadmap, for_this_process=True)
    where = dispatch.RunTarget(roadmap=path_of(roadmap), database=database, run=run)
    with taped(path_of(roadmap), path_of(record), on_event or ignore, database) as hear:
        return dispatch.resume(where, Caller(on_event=hear, agents=agents_in(agent), stays=stays), budget_usd)


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
    """Retry a task in a new run, with the settings of the run of its last attempt.

    Agent, isolation, gates and the rest of the budget are the same, except what is given here.
    """
    from milepost.engine.run.retry import Retry, once_more

    asked = Retry(task=task, roadmap=path_of(roadmap), agent=agent, budget_usd=budget_usd, database=database)
    return run_request(once_more(asked).wish, stays=stays, on_event=on_event)
