"""Tests from outside of the change, and the checks that are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from milepost.core.ports import Check
from milepost.core.task import Task
from milepost.verify.baseline_port import Before
from milepost.verify.checks.hidden import HiddenTestsCheck
from milepost.verify.checks.independent import IndependentTests, IndependentTestsCheck
from milepost.verify.command_runner import Bench
from milepost.verify.judging.behaviour import keeps_behaviour
from milepost.verify.laid_tests import Material


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideTests:
    """The user's hidden tests, and those that a tester wrote for this task; None where nobody was asked to."""

    hidden: Material = field(default_factory=Material)
    independent: IndependentTests | None = None


def outside_checks(
    outside: OutsideTests, task: Task, worker: str, bench: Bench, before: Before, runners: tuple[str, ...] = ()
) -> Iterator[Check]:
    """The checks with tests that nobody who is judged has seen."""
    for line in dict.fromkeys(line for part in task.walk() for line in part.verify_hidden):
        yield _hidden(outside.hidden, line, bench, before)
    if outside.independent is not None:
        yield IndependentTestsCheck(
            tests=outside.independent,
            worker=worker,
            bench=bench,
            keeps_behaviour=keeps_behaviour(task),
            known=frozenset(before.tests() or ()),
            runners=runners,
        )


def _hidden(material: Material, line: str, bench: Bench, before: Before) -> HiddenTestsCheck:
    def at_base(base_bench: Bench) -> Check:
        return HiddenTestsCheck(command_line=line, bench=base_bench, material=material)

    question = f"hidden {material.digest} {line}"
    return HiddenTestsCheck(
        command_line=line, bench=bench, material=material, before=before.answer_of(question, at_base)
    )
