"""Hidden tests run once more as plain programs, without a test runner, and what came of it."""

from __future__ import annotations

from milepost.core.attempt import Workspace
from milepost.core.verdict import TestCase
from milepost.verify.command_runner import Bench
from milepost.verify.laid_tests import Material
from milepost.verify.plain.run import PlainProgram
from milepost.verify.trees import Tree

WITHOUT = "without a test runner: "


def run_plainly(
    material: Material, passed: frozenset[str], workspace: Workspace, bench: Bench
) -> tuple[tuple[TestCase, ...], str]:
    """How the plain tests among those that passed under a runner end without one; or why that could not be asked.

    `passed` are their ids as pytest names them; where it is empty all plain tests of the material are run. A program
    that breaks off has failed.
    """
    if bench.interpreter is None and any(path.endswith(".py") for path in material.files):
        return (), "no Python interpreter was found"
    cases: list[TestCase] = []
    for path in material.files:
        if path.endswith(".py"):
            program = PlainProgram(tree=Tree(workspace=workspace, bench=bench), path=path)
            places = tuple(place for place in program.plain().names if not passed or f"{path}::{place}" in passed)
            cases += _run(program, places) if places else ()
    return tuple(cases), ""


def _run(program: PlainProgram, places: tuple[str, ...]) -> list[TestCase]:
    found = program.run(places)
    cases: list[TestCase] = []
    for place in places:
        word, text = found.endings.get(place, ("failed", "")) if not found.problem else ("failed", found.problem)
        if word in ("passed", "failed", "broke"):
            message = "" if word == "passed" else f"{WITHOUT}{text}"
            outcome = "passed" if word == "passed" else "failed"
            cases.append(TestCase(id=f"{program.path}::{place}", outcome=outcome, message=message))  # type: ignore[arg-type]
    return cases
