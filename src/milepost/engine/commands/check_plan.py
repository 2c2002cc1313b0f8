"""What the `Verify:` lines of open tasks say before anybody works on them: each is run once on the last commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from milepost.core.task import Plan, Task
from milepost.core.verdict import CheckResult
from milepost.engine.commands.verify import opened
from milepost.engine.project.project import Project
from milepost.engine.verification.baseline import ABOUT
from milepost.engine.verification.verifier import Verifier
from milepost.verify.checks.hidden import HiddenTestsCheck
from milepost.verify.judging.behaviour import keeps_behaviour
from milepost.verify.selection.check import PROGRAM_NOT_FOUND, VerifyCheck

State = Literal["fails now", "passes already", "selects no test", "cannot run"]

NOT_EXECUTABLE = 126
NOTHING_COLLECTED = 5
_NO_TESTS = re.compile(
    r"no tests? (?:ran|to run|were collected|found|files? found)|collected 0 items|^Ran 0 tests|\[no test files\]"
    r"|^running 0 tests$|^(?:# |ℹ )?tests 0$|^\s*0 passing",
    re.IGNORECASE | re.MULTILINE,
)
_SOME_TESTS = re.compile(
    r"^running [1-9]\d* tests?$|^(?:# |ℹ )?tests [1-9]|^ok\s+\S+\s+[\d.]+s$|^--- (?:PASS|FAIL)"
    r"|\b[1-9]\d* (?:passed|passing|failed)",
    re.MULTILINE,
)
_MISSING_MODULE = re.compile(r"(?:ModuleNotFoundError: No module named|Cannot find (?:module|package)) '([^'./][^']*)'")
_CONFTEST = re.compile(r"ImportError while loading conftest '?([^'\n]+)'?")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChecked:
    """One line of one open task and how it stands before the work; `why` says more where it is not as it should be."""

    task: str
    line: str
    state: State
    why: str = ""
    hidden: bool = False


def check_plan(roadmap: Path | None, plan: Plan, on_line: Callable[[str], None]) -> tuple[LineChecked, ...]:
    """Run the lines of all open tasks on the last commit, in the sandbox; `on_line` is told each before it is run."""
    asked = list(_lines(plan))
    if not asked:
        return ()
    project = Project.find(roadmap)
    found: dict[tuple[str, bool], CheckResult] = {}
    with opened(project) as (_, examiner, __):
        head = project.repository.position().commit
        for number, (_, line, hidden) in enumerate(asked):
            if (line, hidden) not in found:
                on_line(line)
                found[line, hidden] = _answer(examiner, f"check-{number}", head, line, hidden)
    return tuple(standing(task, line, found[line, hidden], hidden=hidden) for task, line, hidden in asked)


def standing(task: Task, line: str, result: CheckResult, *, hidden: bool = False) -> LineChecked:
    """What the answer to a line means for its task."""
    seen = LineChecked(task=task.id, line=line, state="fails now", hidden=hidden)
    if reason := _cannot_run(task, result):
        return replace(seen, state="cannot run", why=reason)
    if _selects_nothing(result):
        return replace(seen, state="selects no test", why="a line that runs no test shows nothing")
    if result.outcome == "passed":
        same = keeps_behaviour(task)
        why = "as it must: the task changes no behaviour" if same else "it shows nothing"
        return replace(seen, state="passes already", why=why)
    return seen


def _lines(plan: Plan) -> Iterator[tuple[Task, str, bool]]:
    for task in plan.tasks:
        if task.status == "open" and not any(task.id in other.members for other in plan.tasks):
            shown = dict.fromkeys(line for part in task.walk() for line in part.verify)
            hidden = dict.fromkeys(line for part in task.walk() for line in part.verify_hidden)
            yield from ((task, line, False) for line in shown)
            yield from ((task, line, True) for line in hidden)


def _answer(examiner: Verifier, name: str, head: str, line: str, hidden: bool) -> CheckResult:
    with examiner.outfitter.fitted(name, head) as (workspace, fitted):
        bench = replace(fitted, about=ABOUT)
        if hidden:
            return HiddenTestsCheck(command_line=line, bench=bench, material=examiner.hidden).run(workspace)
        found = VerifyCheck(command_line=line, bench=bench).run(workspace)
        problem = bench.equipment.problem
        if found.outcome == "failed" and problem:
            return replace(found, outcome="absent", summary=f"what the project needs is not there: {problem}")
        return found


def _cannot_run(task: Task, result: CheckResult) -> str:
    """Why a line can say nothing on this machine, whatever the work; empty where it can."""
    if result.outcome == "absent":
        return result.summary
    if result.outcome == "passed":
        return ""
    if result.exit_code in (PROGRAM_NOT_FOUND, NOT_EXECUTABLE):
        return "a program of it is not there"
    if result.exit_code is None:
        return result.summary.rpartition("` ")[2]
    if broken := _CONFTEST.search(result.log):
        return f"the tests cannot be collected: {broken[1]} cannot be imported"
    missing = {name.partition(".")[0].partition("/")[0] for name in _MISSING_MODULE.findall(result.log)}
    words = set(re.findall(r"[A-Za-z0-9_@-]+", " ".join(_told(task))))
    strangers = sorted(missing - words)
    return f"{strangers[0]} is not installed here" if strangers else ""


def _told(task: Task) -> Iterator[str]:
    """All words of a task: a module that they name is for the task to write."""
    for part in task.walk():
        yield from (part.title, part.text, *part.files, *part.verify)


def _selects_nothing(result: CheckResult) -> bool:
    if any(case.outcome != "skipped" for case in result.cases):
        return False
    if "selects no test" in result.summary:
        return True
    said = f"{result.log}\n{result.summary}"
    return result.exit_code in (0, 1, NOTHING_COLLECTED) and bool(
        _NO_TESTS.search(said) and not _SOME_TESTS.search(said)
    )
