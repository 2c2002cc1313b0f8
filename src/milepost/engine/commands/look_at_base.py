"""How the tests of a repository stand before anybody works on it: run once, as a run would run them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import MilepostError
from milepost.engine.commands.verify import opened
from milepost.engine.project.project import Project
from milepost.verify.judging.red_base import red_base


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTests:
    """How many tests there are and passed, how long they took; `problem` says what is red, or why none could be run."""

    tests: int = 0
    passed: int = 0
    took_s: float | None = None
    problem: str = ""


def base_tests(roadmap: Path) -> BaseTests:
    """Run the tests of the commit that the user stands on; nothing of the repository is changed."""
    project = Project.find(roadmap)
    try:
        commit = project.repository.position().commit
        with opened(project) as (mileposts, examiner, _):
            before = examiner.baselines.at(commit, mileposts.tree_of(commit))
            tests = before.tests()
            said = red_base(tests, before.why_unknown(), before.messages(), project.repository.has_ignored)
            environment = (before.environment() or ("", ""))[1]
            counted = Counter((tests or {}).values())
            return BaseTests(
                tests=len(tests or {}),
                passed=counted["passed"],
                took_s=before.tests_took_s(),
                problem="\n".join(part for part in (said, environment) if part),
            )
    except MilepostError as error:
        return BaseTests(problem=f"the tests could not be run: {error.message}; {error.advice}")
