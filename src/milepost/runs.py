"""More about runs: the current one, detached runs, and the plan, files and costs of a run.

For example:

    from milepost import runs

    started = runs.start_detached("ROADMAP.md", agent="claude")
    print(started.run, runs.costs(run=started.run))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.control import current as current
    from milepost.api.detached.request import DetachedStart as DetachedStart
    from milepost.api.detached.start import detached_error as detached_error
    from milepost.api.detached.start import resume_detached as resume_detached
    from milepost.api.detached.start import retry_detached as retry_detached
    from milepost.api.detached.start import start_detached as start_detached
    from milepost.api.status import adopt_state as adopt_state
    from milepost.api.status import costs as costs
    from milepost.api.status import failures as failures
    from milepost.api.status import file_at as file_at
    from milepost.api.status import files as files
    from milepost.api.status import plan as plan
    from milepost.api.status import proof_of as proof_of
    from milepost.api.status import state_folder as state_folder
    from milepost.engine.budget.costs import Costs as Costs
    from milepost.engine.budget.costs import Expense as Expense
    from milepost.engine.records.suspend import Terminated as Terminated
    from milepost.engine.views.progress import Progress as Progress
    from milepost.engine.views.run_files import FileText as FileText
    from milepost.engine.views.run_files import RunFile as RunFile
    from milepost.engine.views.run_files import RunFiles as RunFiles
    from milepost.engine.views.run_plan import PlanFinding as PlanFinding
    from milepost.engine.views.run_plan import PlannedTask as PlannedTask
    from milepost.engine.views.run_plan import RunPlan as RunPlan
    from milepost.engine.workers.submit import Elsewhere as Elsewhere
    from milepost.repair.diagnosis.failure_log import FailureStats as FailureStats
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
