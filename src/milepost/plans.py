"""More about a plan: its forecast, its critical path, what an agent would be shown for a task.

For example:

    import milepost
    from milepost import plans

    plan = milepost.plan()
    print(plans.critical_path(plan), plans.forecast(made=plan))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.plans import agent_to_name as agent_to_name
    from milepost.api.plans import assignment as assignment
    from milepost.api.plans import check as check
    from milepost.api.plans import choices as choices
    from milepost.api.plans import context as context
    from milepost.api.plans import critical_path as critical_path
    from milepost.api.plans import forecast as forecast
    from milepost.api.plans import proposals as proposals
    from milepost.api.plans import to_graph as to_graph
    from milepost.api.plans import to_json as to_json
    from milepost.core.task import Problem as Problem
    from milepost.core.task import Remark as Remark
    from milepost.core.task import Wait as Wait
    from milepost.engine.budget.forecast import Forecast as Forecast
    from milepost.engine.commands.check_plan import LineChecked as LineChecked
    from milepost.engine.commands.show_context import TaskContext as TaskContext
    from milepost.engine.routing.choose import Choice as Choice
    from milepost.plan.advice.proposals import Proposal as Proposal
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
