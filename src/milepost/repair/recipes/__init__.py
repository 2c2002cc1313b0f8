"""Recipes: what can be mended mechanically, tried before an agent is asked again. What they leave is verified too."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.errors import MilepostError
from milepost.core.machine_failure import machine_failure
from milepost.repair.recipes.autofix import Autofix
from milepost.repair.recipes.cycles import CircularImport
from milepost.repair.recipes.dependency import MissingPythonPackage
from milepost.repair.recipes.dependency_node import MissingNodePackage
from milepost.repair.recipes.dependency_rust import MissingCrate
from milepost.repair.recipes.locks import StaleLock
from milepost.repair.recipes.package_folders import MissingFolder
from milepost.repair.recipes.port_in_use import PortInUse
from milepost.repair.recipes.recipe import Advice, Answer, NeedsPerson, Recipe, RecipeTools, RepairCase
from milepost.repair.recipes.syntax_slips import SyntaxSlip
from milepost.repair.recipes.wrong_path import WrongPath
from milepost.sandbox import confined

RECIPES: tuple[Recipe, ...] = (
    MissingPythonPackage(),
    MissingNodePackage(),
    MissingCrate(),
    MissingFolder(),
    Autofix(),
    WrongPath(),
    StaleLock(),
    SyntaxSlip(),
    PortInUse(),
    CircularImport(),
)


def mend(case: RepairCase, tools: RecipeTools, recipes: tuple[Recipe, ...] = RECIPES) -> tuple[Answer, ...]:
    """What the recipes that fit had to say, up to the first that did something: it stands last.

    Advice and refusals do not end the search: they are told beside whatever else can be done. A recipe that breaks ends
    it without a result, since what it may have left half done is nothing to go on from.
    """
    answers: list[Answer] = []
    for recipe in recipes:
        try:
            answer = recipe.apply(case, tools) if recipe.fits(case) else None
        except confined.PathRefused as problem:
            answer = NeedsPerson(what=f"{recipe.name}: {problem}")
        except MilepostError:
            raise
        except Exception as problem:
            if isinstance(problem, OSError) and (failure := machine_failure(problem, recipe.name)):
                raise failure from problem
            told = NeedsPerson(what=f"{recipe.name}: it crashed on this project: {type(problem).__name__}: {problem}")
            return (*answers, replace(told, what=tools.redact(told.what), recipe=recipe.name))
        if answer is None:
            continue
        answers.append(replace(answer, what=tools.redact(answer.what), recipe=recipe.name))
        if not isinstance(answer, (Advice, NeedsPerson)):
            break
    return tuple(answers)
