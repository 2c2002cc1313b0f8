"""Which checks a task gets, and what they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from milepost.core.attempt import Workspace
from milepost.core.ports import Check
from milepost.core.redact import Redactor
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence, TestOutcome, judge
from milepost.verify.bench import Bench
from milepost.verify.commands import CommandCheck
from milepost.verify.files import FilesCheck
from milepost.verify.tests import TestsCheck


def checks_for(
    task: Task,
    *,
    changed: tuple[str, ...],
    bench: Bench,
    before: Mapping[str, TestOutcome] | None,
    agent: str = "",
) -> tuple[Check, ...]:
    """The checks of a task and its subtasks, cheapest first; `agent` is who did it, when not the one it names."""
    by_pattern = (agent or task.agent).startswith("pattern:")
    expected = _each_once(file for part in task.walk() for file in part.files)
    lines = _each_once(line for part in task.walk() for line in part.verify)
    return (
        FilesCheck(changed=changed, expected=expected),
        *(CommandCheck(command_line=line, bench=bench) for line in lines),
        TestsCheck(bench=bench, before=before, new_tests_count=by_pattern),
    )


def verify(
    workspace: Workspace,
    checks: tuple[Check, ...],
    tree: str,
    redact: Redactor,
    on_check: Callable[[CheckResult], None] | None = None,
) -> Evidence:
    """Run the checks and judge the tree by them.

    All are run, so that the next attempt learns all that is wrong at once; only a failed look at
    the files ends it early, since there is nothing worth running then.
    """
    results: list[CheckResult] = []
    for check in checks:
        result = _redacted(check.run(workspace), redact)
        results.append(result)
        if on_check is not None:
            on_check(result)
        if result.outcome == "failed" and isinstance(check, FilesCheck):
            break
    return judge(tree, tuple(results))


def _redacted(result: CheckResult, redact: Redactor) -> CheckResult:
    return replace(
        result,
        name=redact(result.name),
        summary=redact(result.summary),
        argv=tuple(redact(word) for word in result.argv),
        cases=tuple(replace(case, id=redact(case.id), message=redact(case.message)) for case in result.cases),
        log=redact(result.log),
    )


def _each_once(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entries))
