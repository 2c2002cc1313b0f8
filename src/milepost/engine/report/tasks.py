"""The story of one task: how it stands, its attempts, and what the checks said of each. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from milepost.core.approval import acceptor, approver, verdict_words
from milepost.core.attempt import Attempt
from milepost.core.basis import basis_lines
from milepost.core.events import AttemptFinished, ModelCalled, StageStarted, TaskFinished, ToolUsed
from milepost.core.failures import FailureClass
from milepost.core.verdict import CheckResult, Evidence, Verdict
from milepost.engine.records.journal import Entry, RunRecord
from milepost.engine.records.steering import ended_tasks
from milepost.engine.report.diffs import Diff
from milepost.engine.report.facts import AttemptStory, Bar, CheckStory, Standing, TaskStory
from milepost.engine.report.words import cut
from milepost.repair.diagnosis.classify import classify
from milepost.workspace.mileposts import attempt_ref

AUTHORS_OWN = "verify"  # the command is the author's; of other checks it is ours, and the answer tells more
TESTS_TOLD, LOG_LINES_TOLD, LONGEST_TOLD = 8, 12, 400
_SIGNS = {"passed": "passed", "failed": "failed", "held": "held", "absent": "–"}


def task_story(
    task: str,
    title: str,
    record: RunRecord,
    entries: Sequence[Entry],
    attempts: Sequence[Attempt],
    *,
    bars: tuple[Bar, ...],
    diff: Diff | None,
    asking: bool,
) -> TaskStory:
    """What is told of a task, from the events and the attempts that are its own."""
    ended = ended_tasks(entry.event for entry in entries).get(task)
    listed = next((one for one in record.summary.tasks if one.id == task), None) if record.summary else None
    titles = [entry.event.title for entry in entries if isinstance(entry.event, StageStarted | TaskFinished)]
    stories = attempt_stories(record.run, task, entries, attempts, bars)
    return TaskStory(
        id=task,
        title=next((one for one in (*titles, listed.title if listed else "", title) if one), ""),
        standing=_standing(ended, bars, record, attempts, asking=asking),
        commit=(ended.commit if ended else None) or "",
        reason=ended.reason if ended else (listed.reason if listed else ""),
        proposal=ended.proposal if ended else (listed.proposal if listed else ""),
        tests=ended.tests if ended else 0,
        checks=ended.checks if ended else 0,
        seconds=ended.duration_ms / 1000 if ended else sum(story.seconds for story in stories),
        cost_usd=sum(story.cost_usd for story in stories),
        attempts=stories,
        bars=bars,
        diff=diff,
    )


def _standing(
    ended: TaskFinished | None, bars: Sequence[Bar], record: RunRecord, attempts: Sequence[Attempt], *, asking: bool
) -> Standing:
    if ended is not None and ended.commit and ended.verdict is not Verdict.PASSED:
        return "accepted"
    if ended is not None:
        return ended.verdict.value if ended.verdict else "waiting"
    if asking:
        last = attempts[-1].evidence.verdict if attempts else None
        held = last is Verdict.HELD or last is Verdict.UNVERIFIED
        return last.value if last is not None and held else "asking"
    return "working" if bars and record.summary is None else "waiting"


def attempt_stories(
    run: str, task: str, entries: Sequence[Entry], kept: Sequence[Attempt], bars: Sequence[Bar]
) -> tuple[AttemptStory, ...]:
    """The attempts in their order: those that are kept, and those that only events tell of."""
    by_number = {attempt.number: attempt for attempt in kept}
    told = {entry.event.attempt: entry.event for entry in entries if isinstance(entry.event, AttemptFinished)}
    agents = {
        entry.event.attempt: entry.event.agent
        for entry in entries
        if isinstance(entry.event, StageStarted) and entry.event.agent
    }
    stories = []
    for number in sorted({*by_number, *told, *(bar.attempt for bar in bars)}):
        calls = [entry.event for entry in entries if isinstance(entry.event, ModelCalled)]
        calls = [call for call in calls if call.attempt == number]
        uses = [entry.event for entry in entries if isinstance(entry.event, ToolUsed)]
        attempt, finished = by_number.get(number), told.get(number)
        by_calls = sum(call.cost_usd for call in calls)
        stories.append(
            AttemptStory(
                number=number,
                agent=attempt.agent if attempt else (finished.agent if finished else agents.get(number, "")),
                verdict=_verdict(attempt, finished),
                reason=attempt.evidence.reason if attempt else (finished.reason if finished else ""),
                seconds=finished.duration_ms / 1000
                if finished
                else sum(bar.ended - bar.began for bar in bars if bar.attempt == number),
                cost_usd=max(by_calls, attempt.outcome.cost_usd if attempt else 0.0),
                tokens=sum(call.input_tokens + call.output_tokens for call in calls),
                calls=len(calls),
                tools=sum(use.attempt == number for use in uses),
                failure=_failure(attempt),
                said=cut(attempt.outcome.said, 2_000) if attempt else "",
                ref=attempt_ref(run, task, number) if attempt else "",
                base=attempt.base if attempt else "",
                commit=attempt.commit if attempt else "",
                checks=_checks(attempt.evidence.checks) if attempt else (),
                nothing_to_ask=_silent(attempt.evidence.checks) if attempt else (),
                confidence=attempt.evidence.confidence if attempt else 0.0,
                held=attempt.evidence.enforced if attempt else (),
                basis=basis_lines(attempt.evidence) if attempt else (),
                questions=attempt.evidence.questions if attempt else (),
                decided=_decided(attempt.evidence) if attempt else "",
            )
        )
    return tuple(stories)


def _verdict(attempt: Attempt | None, finished: AttemptFinished | None) -> str:
    if attempt is not None:
        return attempt.evidence.verdict.value
    return finished.verdict.value if finished is not None else ""


def _decided(evidence: Evidence) -> str:
    """Which person had the last word, empty where none had to."""
    return verdict_words(evidence) if approver(evidence) or acceptor(evidence) else ""


def _failure(attempt: Attempt | None) -> str:
    failure = classify(attempt) if attempt is not None else None
    if failure is None or failure.kind is FailureClass.UNKNOWN:
        return ""
    return failure.kind.value.replace("_", " ")


def _checks(checks: Sequence[CheckResult]) -> tuple[CheckStory, ...]:
    """Those that had something to ask, or could not."""
    return tuple(_check(check) for check in checks if check.outcome != "absent" or _unable(check))


def _silent(checks: Sequence[CheckResult]) -> tuple[str, ...]:
    return tuple(check.name for check in checks if check.outcome == "absent" and not _unable(check))


def _unable(check: CheckResult) -> bool:
    return "could not" in check.summary


def _check(check: CheckResult) -> CheckStory:
    return CheckStory(
        name=check.name,
        asked=cut(check.line if check.name == AUTHORS_OWN and check.argv else check.summary, LONGEST_TOLD),
        before=_before(check),
        after=_after(check),
        failed=check.outcome == "failed",
        decisive=check.decisive,
        seconds=check.duration_ms / 1000,
        details=_details(check) if check.outcome == "failed" else (),
        held=check.outcome == "held",
    )


def _before(check: CheckResult) -> str:
    known = [case for case in check.cases if case.before is not None]
    if known:
        return f"{sum(case.before == 'passed' for case in known)} of {len(known)} passed"
    return _SIGNS[check.before] if check.before else "–"


def _after(check: CheckResult) -> str:
    if check.cases:
        return f"{check.count('passed')} of {len(check.cases)} passed"
    by_author = check.name == AUTHORS_OWN and check.outcome == "failed" and check.exit_code
    return f"exit {check.exit_code}" if by_author else _SIGNS[check.outcome]


def _details(check: CheckResult) -> tuple[str, ...]:
    """What a failed check said: the tests that failed, and the end of its log."""
    failed = [case for case in check.cases if case.outcome == "failed"]
    tests = [f"{case.id}: {case.message}{' (flaky)' if case.flaky else ''}" for case in failed[:TESTS_TOLD]]
    more = [f"and {len(failed) - TESTS_TOLD} more"] if len(failed) > TESTS_TOLD else []
    log = check.log.splitlines()[-LOG_LINES_TOLD:]
    return tuple(cut(line, LONGEST_TOLD) for line in (check.summary, *tests, *more, *log))
