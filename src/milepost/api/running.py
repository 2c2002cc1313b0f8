"""Runs that this process works on until they are over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from milepost.api.given import agents_in, name_of, path_of, unheard

if TYPE_CHECKING:
    from pathlib import Path

    from milepost.api.given import OnEvent
    from milepost.core.ports import Agent
    from milepost.engine.records.run_request import NothingToDo, RunRequest, Wishes
    from milepost.engine.workers.dispatch import Ending


def run(
    roadmap: Path | str | None = None,
    *,
    agent: str | Agent | None = None,
    stays: bool = False,
    record: Path | str | None = None,
    on_event: OnEvent | None = None,
    **wishes: Unpack[Wishes],
) -> Ending:
    """Work on a roadmap until every open task has its milepost or its reason; goes on with an interrupted run.

    `agent` is a name, or an object with the `Agent` port's method; an object must be given again to `resume`.
    `stays` waits for people who are asked; without it the run is left when only they are waited for. `record` is a
    file for all that agents answered and did, as a cassette. `on_event` hears everything as it happens.

    What else may be asked for; what is left out, or None, is left to the settings:

        tasks       only these, by their ids
        max_tasks   at most so many
        new         leave an interrupted run and start another
        parallel    so many attempts under way at once
        trust       `isolated` or `sandboxed`; without it the strongest level that is held here
        network     what may be reached: `none`, `loopback`, `open`, or hosts with commas between them
        budget_usd  what the run may cost
        approve     when a person is asked: `each`, `risky` or `never`
        ordered     land in the order of the plan
        order       `free`, as dependencies allow, or `outline`, as the roadmap lists it
        group       small tasks in one attempt: `none`, `section` or `smart`
        dialect     how the roadmap is written: `boxes`, `emoji`, `table` …
        memory      what is remembered: `on`, `off` or `read-only`
        held        leave the user's branch where it is, whatever passed
        met         tasks of other projects (`api:1.2`) that have their mileposts, though these are not taken in there
        database    a PostgreSQL server, at whose workers the run is done
        remote      the git remote that these workers share
    """
    from milepost.engine.records.run_request import RunRequest

    wish = RunRequest(roadmap=path_of(roadmap), agent=name_of(agent), **wishes)
    return granted(wish, agents=agents_in(agent), stays=stays, record=record, on_event=on_event)


def granted(
    wish: RunRequest,
    *,
    agents: dict[str, Agent] | None = None,
    stays: bool = False,
    record: Path | str | None = None,
    on_event: OnEvent | None = None,
) -> Ending:
    """The run that is wished for, done until it is over; `agents` are the objects among its agents, by their names."""
    from milepost.engine.records.run_request import Caller
    from milepost.engine.replay.record import taped
    from milepost.engine.workers import dispatch

    with taped(wish.roadmap, path_of(record), on_event or unheard, wish.database) as hear:
        return dispatch.run(wish, Caller(on_event=hear, agents=agents or {}, stays=stays))


def preview(
    roadmap: Path | str | None = None, *, agent: str | Agent | None = None, **wishes: Unpack[Wishes]
) -> tuple[str, ...] | NothingToDo:
    """The tasks that `run` would work on, in the order they may start, by the same keywords.

    It refuses what `run` refuses, and changes nothing.
    """
    from milepost.engine.records.run_request import RunRequest
    from milepost.engine.run.dry_run import preview as look_ahead

    return look_ahead(RunRequest(roadmap=path_of(roadmap), agent=name_of(agent), **wishes), agents_in(agent))


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
) -> Ending:
    """Go on with the run that was interrupted; its flags are recorded, but for `record`. A new budget may be given.

    There is one at a time: a new run leaves the one before. With `run` it is refused where another would go on.
    """
    from milepost.engine.records.run_request import Caller
    from milepost.engine.replay.record import taped
    from milepost.engine.workers import dispatch

    where = dispatch.RunTarget(roadmap=path_of(roadmap), database=database, run=run)
    with taped(path_of(roadmap), path_of(record), on_event or unheard, database) as hear:
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
    """Try a task once more in a run of its own, held as the run that it was tried in last.

    Its agent, walls, gates and what is left of its budget stay as they were, but for what is given here.
    """
    from milepost.engine.run.retry import Retry, once_more

    asked = Retry(task=task, roadmap=path_of(roadmap), agent=agent, budget_usd=budget_usd, database=database)
    return granted(once_more(asked).wish, stays=stays, on_event=on_event)
