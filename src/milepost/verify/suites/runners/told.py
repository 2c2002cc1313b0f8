"""What commands told, as the run of a suite."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.commands import CommandResult, ending_in_words
from milepost.core.verdict import FailureKind, TestCase, TestOutcome
from milepost.verify.command_runner import Bench, last_line, log_of, tail
from milepost.verify.suites.junit import LONGEST_MESSAGE, LONGEST_TRACEBACK
from milepost.verify.suites.suite import SuiteRun

LONGEST_LOG = 8_000


def run_of(
    argv: tuple[str, ...],
    result: CommandResult,
    *,
    cases: tuple[TestCase, ...] = (),
    problem: str = "",
    environment: str = "",
) -> SuiteRun:
    """The run of a suite by one command."""
    return SuiteRun(
        argv=argv,
        exit_code=result.exit_code,
        cases=cases,
        problem=problem,
        missing=missing(result, argv[0]),
        log=log_of(result),
        duration_ms=result.duration_ms,
        enforced=result.enforced,
        environment=environment,
    )


def unfinished(argv: tuple[str, ...], result: CommandResult, bench: Bench) -> str:
    """That the tests did not run to their end, and how the command ended."""
    last = last_line(result.stderr) or last_line(result.stdout)
    ending = ending_in_words(result, program=argv[0], timeout_s=bench.timeout_s)
    return f"the tests did not run to their end: {ending}{f': {last}' if last else ''}"


def contradiction(exit_code: int | None, cases: tuple[TestCase, ...], *, failing: tuple[int, ...] = (1,)) -> str:
    """How the exit code contradicts the cases, empty when it does not; `failing` are the codes of failed tests."""
    failed = sum(case.outcome == "failed" for case in cases)
    if failed and exit_code == 0:
        return f"exit 0, though {failed} of the tests failed"
    if exit_code != 0 and not failed:
        return f"exit {exit_code}, though no test failed"
    return f"exit {exit_code} is not how failed tests end" if failed and exit_code not in failing else ""


def missing(result: CommandResult, program: str) -> str:
    """That the program is not on this machine."""
    lost = result.termination == "not_started" and ending_in_words(result, program=program, timeout_s=0)
    return f"{program} is not installed" if lost and lost.startswith("not found") else ""


def combined(runs: tuple[SuiteRun, ...]) -> SuiteRun:
    """Several commands as one run: the command is the one that went worst, the last where none did."""
    worst = next(
        (run for run in runs if run.problem),
        next((run for run in runs if any(case.outcome == "failed" for case in run.cases)), runs[-1]),
    )
    return replace(
        worst,
        cases=tuple({case.id: case for run in runs for case in run.cases}.values()),
        missing=next((run.missing for run in runs if run.missing), ""),
        log=tail("\n".join(run.log for run in runs if run.log), LONGEST_LOG),
        duration_ms=sum(run.duration_ms for run in runs),
        enforced=tuple(word for word in worst.enforced if all(word in run.enforced for run in runs)),
        environment=next((run.environment for run in runs if run.environment), ""),
        notes=tuple(note for run in runs for note in run.notes),
    )


def case(
    name: str,
    outcome: TestOutcome,
    *,
    message: str = "",
    traceback: str = "",
    kind: FailureKind | None = None,
    duration_ms: int = 0,
) -> TestCase:
    """A test case with its texts bounded; only a failure has a kind and a traceback."""
    failed = outcome == "failed"
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return TestCase(
        id=name,
        outcome=outcome,
        message=line[:LONGEST_MESSAGE],
        duration_ms=max(0, duration_ms),
        kind=kind if failed else None,
        traceback=tail(traceback, LONGEST_TRACEBACK) if failed else "",
    )


def numbered(cases: list[TestCase]) -> tuple[TestCase, ...]:
    """The cases with ids of their own: the second of a name is `name #2`, as long as their order stays."""
    seen: dict[str, int] = {}
    found: list[TestCase] = []
    for each in cases:
        seen[each.id] = seen.get(each.id, 0) + 1
        found.append(each if seen[each.id] == 1 else replace(each, id=f"{each.id} #{seen[each.id]}"))
    return tuple(found)


def within(folder: str, path: str) -> str:
    """A path of a suite's folder, relative to the checkout."""
    return f"{folder}/{path}" if folder else path


def of_suite(folder: str, ids: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the ids that can be of a suite in `folder`, relative to it."""
    prefix = f"{folder}/" if folder else ""
    return tuple(each.removeprefix(prefix) for each in ids if each.startswith(prefix))


def chosen(run: SuiteRun, only: tuple[str, ...]) -> SuiteRun:
    """The run with no other cases than those of these ids or files, all when none was asked for."""
    wanted = set(only)
    kept = (case for case in run.cases if not wanted.isdisjoint((case.id, case.id.partition("::")[0])))
    return replace(run, cases=tuple(kept)) if only else run
