"""Several projects: one plan, runs one after the other, or one atomic run over all of them.

For example:

    from milepost import projects

    print([project.name for project in projects.find(".").siblings])
    projects.run(".", agent="claude", budget_usd=5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.projects import find as find
    from milepost.api.projects import is_workspace as is_workspace
    from milepost.api.projects import plan as plan
    from milepost.api.projects import plan_to_json as plan_to_json
    from milepost.api.projects import run as run
    from milepost.api.projects import run_atomic as run_atomic
    from milepost.api.projects import run_atomic_to_json as run_atomic_to_json
    from milepost.api.projects import run_to_json as run_to_json
    from milepost.api.projects import to_json as to_json
    from milepost.engine.projects.atomic_commit import MemberEnding as MemberEnding
    from milepost.engine.projects.atomic_commit import TogetherEnding as TogetherEnding
    from milepost.engine.projects.sequential import InTurnEnding as InTurnEnding
    from milepost.engine.projects.sequential import ProjectEnding as ProjectEnding
    from milepost.plan.projects.dependencies import Family as Family
    from milepost.plan.projects.dependencies import Sibling as Sibling
    from milepost.plan.projects.joint_plan import FamilyPlan as FamilyPlan
    from milepost.plan.projects.joint_plan import ProjectPlan as ProjectPlan
    from milepost.plan.projects.joint_plan import ProjectProblem as ProjectProblem
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
