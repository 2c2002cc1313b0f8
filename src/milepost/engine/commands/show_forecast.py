"""The forecast of a roadmap as it stands: from its plan, its settings, and what was done here before."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from milepost.core.task import Plan
from milepost.engine.budget.forecast import RECIPE, Forecast, ForecastInputs, forecast_of
from milepost.engine.project.project import state_of
from milepost.engine.routing.candidates import as_chosen, foretell
from milepost.store.database import open_database


def foresee(roadmap: Path, plan: Plan) -> Forecast | None:
    """What the open tasks of a roadmap will take with its settings; None where nothing similar was done yet.

    Where no agent is set, it will be the one that worked here last.
    """
    path = state_of(roadmap) / "milepost.db"
    if not path.exists():
        return None
    with closing(open_database(path)) as database:
        from milepost.engine.memory.open_memory import took_here

        episodes = took_here(roadmap, database)
    if not episodes:
        return None
    from milepost.engine.project.settings.load import load

    settings = load(roadmap.parent)
    wanted = [name for wave in plan.waves for name in wave]
    worked = (episode.agent for episode in reversed(episodes) if not episode.agent.startswith(RECIPE))
    agent = settings.run.agent or next(worked, "")
    plan = as_chosen(plan, foretell(roadmap, plan))
    return forecast_of(plan, wanted, ForecastInputs(agent=agent, parallel=settings.run.parallel), episodes)
