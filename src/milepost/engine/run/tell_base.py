"""What is said of the base of a task before an agent is asked to work on it."""

from __future__ import annotations

from milepost.engine.services import RunServices
from milepost.verify.judging.red_base import red_base
from milepost.verify.levels import Mode


def red_base_of(services: RunServices, base: str) -> str:
    """That the tests fail or cannot be run at a base, and what would help; empty where they pass.

    Asked before anybody is paid: with answers that are kept, it costs one run of the tests for each new base.
    """
    examiner = services.examiner
    if examiner.asked.mode is Mode.SKIP:
        return ""
    before = examiner.baselines.at(base, services.mileposts.tree_of(base))
    tests = before.tests()
    return red_base(tests, before.why_unknown(), before.messages(), services.project.repository.has_ignored)
