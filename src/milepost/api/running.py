"""Runs that this process works on until they are over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.given import agents_in, name_of, path_of, unheard

if TYPE_CHECKING:
    from pathlib import Path

    from milepost.api.given import OnEvent
    from milepost.core.ports import Agent
    from milepost.engine.again import Again
    from milepost.engine.anywhere import Ending
    from milepost.engine.prepare import NothingToDo


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
        roadmap=path_of(roadmap),
        agent=name_of(agent),
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
    with taped(path_of(roadmap), path_of(record), on_event or unheard, database) as hear:
        return anywhere.run(wish, Company(on_event=hear, agents=agents_in(agent), stays=stays))


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
        roadmap=path_of(roadmap),
        agent=name_of(agent),
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
    return look_ahead(wish, agents_in(agent))


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

    where = anywhere.Whereabouts(roadmap=path_of(roadmap), database=database)
    with taped(path_of(roadmap), path_of(record), on_event or unheard, database) as hear:
        return anywhere.resume(where, Company(on_event=hear, agents=agents_in(agent), stays=stays), budget_usd)


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


def _once_more(
    task: str, roadmap: Path | str | None, agent: str | None, budget_usd: float | None, database: str | None
) -> Again:
    from milepost.engine.again import Retry, once_more

    return once_more(Retry(task=task, roadmap=path_of(roadmap), agent=agent, budget_usd=budget_usd, database=database))
