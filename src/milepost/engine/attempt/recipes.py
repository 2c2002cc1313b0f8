"""Mending without an agent: the recipes, put to what a failed attempt left."""

from __future__ import annotations

from milepost.core.attempt import Workspace
from milepost.core.failures import Failure
from milepost.core.task import Task
from milepost.engine.records.run_spec import RECIPE, FinishedAttempt, RunSpec
from milepost.engine.services import RunServices
from milepost.engine.verification.verifier import corrected
from milepost.repair.recipes import mend
from milepost.repair.recipes.recipe import (
    Advice,
    Answer,
    Correction,
    Mended,
    NeedsPerson,
    RecipeTools,
    RepairCase,
    VerifyAgain,
)
from milepost.verify.suites.python_project import environment_for

Done = Mended | Correction | VerifyAgain


def try_recipes(
    services: RunServices,
    order: RunSpec,
    task: Task,
    tries: tuple[FinishedAttempt, ...],
    failure: Failure,
    workspace: Workspace,
) -> tuple[Done | None, tuple[str, ...]]:
    """What a recipe did in the workspace, where one did something new, and what the others had to say."""
    last = tries[-1]
    case = RepairCase(
        task=corrected(task, last.corrections),
        failure=failure,
        evidence=last.attempt.evidence,
        folder=workspace.folder,
        change=services.mileposts.change(last.attempt.base, last.left, without=order.roadmap),
    )
    answers: tuple[Answer, ...] = mend(case, _tools(services, order, workspace))
    told = tuple(answer.what for answer in answers if isinstance(answer, (Advice, NeedsPerson)))
    done = answers[-1] if answers else None
    tried = {one.attempt.outcome.said for one in tries if one.attempt.agent.startswith(RECIPE)}
    if done is None or isinstance(done, (Advice, NeedsPerson)) or done.what in tried:
        return None, told
    return done, told


def _tools(services: RunServices, order: RunSpec, workspace: Workspace) -> RecipeTools:
    """What recipes work with: what the checks of this checkout would have."""
    bench = services.examiner.outfitter.bench_for(workspace)
    interpreter, equipment = bench.interpreter, bench.equipment
    own = environment_for(interpreter, workspace.folder, bench.path) if interpreter else {}
    return RecipeTools(
        terminal=services.terminal,
        scratch=workspace.scratch,
        interpreter=interpreter.path if interpreter else None,
        approved=frozenset(order.repairs.packages),
        redact=services.redact,
        env={**own, **equipment.variables},
        readable=(*(interpreter.readable if interpreter else ()), *equipment.readable),
    )
