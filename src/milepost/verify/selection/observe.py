"""A `Verify:` line looked at once at the base: what it comes to, which tests it starts, which files it opens."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult, ending_in_words
from milepost.verify.command_runner import Bench, last_line
from milepost.verify.programs.command_line import argv_of
from milepost.verify.selection.access_times import watch
from milepost.verify.selection.at_base import LineAtBase, SuiteAtBase
from milepost.verify.selection.judgement import judged
from milepost.verify.selection.line import LineReading, read_line
from milepost.verify.selection.recorder import record
from milepost.verify.selection.run import run_selections, serves
from milepost.verify.selection.selection import Selection
from milepost.verify.selection.starts import selections_of
from milepost.verify.suites.suite import SuiteRun

NO_RUNNER = "no test runner was seen to start"


def look(
    line: str, workspace: Workspace, bench: Bench, suite: SuiteAtBase | None = None, runners: tuple[str, ...] = ()
) -> LineAtBase:
    """How a line stands in a checkout whose code is trusted.

    A line that is nothing but test runners is run under the witness alone, or not at all where the run of the project's
    own `suite` is a run of it. Any other is run as it is, and what it starts is run under the witness afterwards.
    """
    if not argv_of(line):
        return LineAtBase(outcome="failed", summary="the Verify line is empty", unseen="the Verify line is empty")
    reading = read_line(line)
    if not reading.is_runner:
        return _by_what_it_starts(line, reading, workspace, bench)
    if suite is not None and is_served(reading, workspace, bench, runners):
        run = SuiteRun(argv=(), exit_code=None, cases=suite.cases)
        return _with_opened(_seen(run, reading.selections, is_runner=True), suite.opened)
    watching = watch(workspace, bench)
    run = run_selections(reading.selections, workspace, bench)
    if run.missing or run.problem:
        return _by_exit_code(line, reading, run, workspace, bench)
    return _with_opened(_seen(run, reading.selections, is_runner=True), watching.opened())


def is_served(reading: LineReading, workspace: Workspace, bench: Bench, runners: tuple[str, ...] = ()) -> bool:
    """Whether one run of the project's own suite is a run of this line."""
    return len(reading.selections) == 1 and serves(reading.selections[0], workspace, bench, runners)


def _seen(run: SuiteRun, selections: tuple[Selection, ...], *, is_runner: bool) -> LineAtBase:
    """How tests stand that could be run under the witness."""
    found = judged(run, None)
    return LineAtBase(
        outcome="passed" if found.outcome == "passed" else "failed",
        summary=found.summary,
        cases=run.cases,
        selections=selections,
        is_runner=is_runner,
    )


def _by_exit_code(line: str, reading: LineReading, run: SuiteRun, workspace: Workspace, bench: Bench) -> LineAtBase:
    """A line whose tests the engine could not run: when it is run itself it shows whose trouble that is."""
    watching = watch(workspace, bench)
    result = bench.run(argv_of(line), workspace)
    plain = _plain(line, result, bench)
    told = replace(plain, selections=reading.selections, is_runner=True)
    return _with_opened(_with_trouble(told, run), watching.opened())


def _by_what_it_starts(line: str, reading: LineReading, workspace: Workspace, bench: Bench) -> LineAtBase:
    watching = watch(workspace, bench)
    recording = record(argv_of(line), workspace, bench)
    opened = watching.opened()
    plain = _with_opened(_plain(line, recording.result, bench), opened)
    started = selections_of(recording.starts, recording.plain, workspace)
    selections = tuple(each for each in started if _may_be_kept(each, bench)) or reading.selections
    if not selections:
        return replace(plain, unseen=NO_RUNNER)
    run = run_selections(selections, workspace, bench)
    failed = tuple(case.id for case in run.cases if case.outcome == "failed")
    all_was_well = bool(recording.starts) and all(start.passed for start in recording.starts)
    if all_was_well and not run.missing and not any(case.outcome == "passed" for case in run.cases):
        why = run.problem or judged(run, None).summary
        return replace(plain, unseen=f"its tests do not pass when Milepost runs them: {why}")
    red = bool(failed) and not all_was_well
    told = replace(
        plain,
        outcome="failed" if red else plain.outcome,
        summary=judged(run, None).summary if red else plain.summary,
        selections=selections,
        cases=run.cases,
        excused=failed if all_was_well else (),
    )
    return _with_trouble(told, run)


def _with_trouble(told: LineAtBase, run: SuiteRun) -> LineAtBase:
    if run.missing or (run.problem and told.outcome == "passed"):
        return replace(told, cases=(), unseen=f"its tests cannot be run by Milepost: {run.missing or run.problem}")
    return replace(told, cases=(), problem=run.problem) if run.problem else told


def _plain(line: str, result: CommandResult, bench: Bench) -> LineAtBase:
    ending = ending_in_words(result, program=line, timeout_s=bench.timeout_s)
    last = "" if result.succeeded else last_line(result.stderr) or last_line(result.stdout)
    return LineAtBase(
        outcome="passed" if result.succeeded else "failed",
        summary=f"{ending}: {last}" if last else ending,
        ended=result.exit_code is not None,
    )


def _may_be_kept(selection: Selection, bench: Bench) -> bool:
    """What holds a secret is not written down."""
    texts = (*selection.words, *(value for _, value in selection.env))
    return all(bench.redact(text) == text for text in texts)


def _with_opened(told: LineAtBase, opened: tuple[str, ...] | None) -> LineAtBase:
    return replace(told, opened=opened or (), opens_known=opened is not None)
