"""What is kept of attempts: in the journal, the failure log, the ledger of patches, the memory, the milepost's note.

Nothing here is a step: all of it is harmless when repeated, and is repeated when a run is resumed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from milepost.core.approval import may_land
from milepost.core.attempt import Attempt
from milepost.core.task import Task
from milepost.core.verdict import Evidence, Verdict
from milepost.engine.events.emit import tell_attempt
from milepost.engine.memory import episodes, learn
from milepost.engine.records.call_log import AttemptKey
from milepost.engine.records.run_spec import AttemptResult, Candidate, FinishedAttempt, RunSpec
from milepost.engine.records.values_json import dump, load
from milepost.engine.services import RunServices
from milepost.repair.diagnosis.classify import classify
from milepost.repair.patches.patch import Patch, PatchState, advance, created

Plain = dict[str, Any]
IN_GIT = "git diff "  # how the ledger tells of a change that git has


def record(services: RunServices, order: Plain, task: Plain, acted: Plain, evidence: Plain) -> Plain:
    """Put an attempt together from its recorded parts, and keep it where it is looked for; harmless when repeated."""
    asked, job = load(RunSpec, order), load(Task, task)
    left, found = load(AttemptResult, acted), load(Evidence, evidence)
    attempt = Attempt(
        number=left.candidate.attempt,
        agent=left.candidate.agent,
        base=left.candidate.base,
        commit=left.commit,
        outcome=left.outcome,
        evidence=found,
        duration_ms=left.duration_ms + sum(check.duration_ms for check in found.checks),
    )
    if left.candidate.leaks:
        key = AttemptKey(run=asked.run, task=job.id, attempt=attempt.number)
        services.books.calls.mask(key, services.shown)
    services.books.journal.keep_attempt(asked.run, job.id, attempt)
    _enter(services, asked, job, attempt, left.candidate.changed)
    if (failure := classify(attempt, task=job, changed=left.candidate.changed)) is not None:
        services.books.failures.keep(asked.run, job.id, attempt.number, failure, at=left.finished_at)
    if found.verdict is not Verdict.HELD:  # what a person will say of it is not known yet
        episodes.end(services, asked, job, attempt, left)
    learn.judge_lessons(services, asked, job, attempt)
    tell_attempt(services, asked.run, job.id, attempt, "finished")
    return dump(
        FinishedAttempt(
            attempt=attempt,
            proven_on=attempt.base,
            finished_at=left.finished_at,
            left=left.left,
            changed=left.candidate.changed,
            corrections=left.candidate.corrections,
        )
    )


def corrected(
    services: RunServices, order: RunSpec, task: Task, last: FinishedAttempt, evidence: Evidence, head: str
) -> FinishedAttempt:
    """The last attempt with newer evidence, for its work on top of `head`; harmless when repeated."""
    attempt, before, run = replace(last.attempt, evidence=evidence), last.attempt.evidence.verdict, order.run
    services.books.journal.keep_attempt(run, task.id, attempt)
    if (failure := classify(attempt)) is not None:
        services.books.failures.keep(run, task.id, attempt.number, failure, at=last.finished_at)
    for patch in services.books.patches.of_task(run, task.id):
        if patch.attempt == attempt.number:
            _judge_patch(services, patch, attempt)
    if evidence.verdict is not before:
        tell_attempt(services, run, task.id, attempt, f"corrected/{evidence.tree}")
        if before is Verdict.HELD:
            episodes.end(services, order, task, attempt, _as_acted(last))
            learn.judge_lessons(services, order, task, attempt)
    return replace(last, attempt=attempt, proven_on=head)


def _as_acted(one: FinishedAttempt) -> AttemptResult:
    """What an agent left, from the record of its attempt."""
    attempt = one.attempt
    candidate = Candidate(
        attempt=attempt.number,
        agent=attempt.agent,
        base=attempt.base,
        tree=attempt.evidence.tree,
        changed=one.changed,
        corrections=one.corrections,
    )
    return AttemptResult(
        candidate=candidate,
        commit=attempt.commit,
        left=one.left,
        outcome=attempt.outcome,
        finished_at=one.finished_at,
        duration_ms=max(0, attempt.duration_ms - sum(check.duration_ms for check in attempt.evidence.checks)),
    )


def note_for(run: str, task: str, one: FinishedAttempt) -> str:
    """The evidence as it travels with the milepost: all but the commit, which is the one it is attached to."""
    attempt = one.attempt
    body = {"version": 2, "run": run, "task": task, "attempt": attempt.number, "agent": attempt.agent}
    corrections = {"corrections": [list(pair) for pair in one.corrections]} if one.corrections else {}
    return json.dumps(body | corrections | {"evidence": dump(attempt.evidence)}, indent=1, sort_keys=True) + "\n"


def commit_patch(services: RunServices, run: str, task: str, attempt: int, commit: str) -> None:
    """Say in the ledger that an attempt's change is a milepost now."""
    for patch in services.books.patches.of_task(run, task):
        if patch.attempt == attempt and patch.state == "verified":
            services.books.patches.move(patch, "committed", commit)


def _enter(services: RunServices, order: RunSpec, task: Task, attempt: Attempt, changed: tuple[str, ...]) -> None:
    """Enter an attempt's change into the ledger of patches, as far as it came; the diff itself is in git.

    A diff that the agent printed is there already.
    """
    if not changed:
        return
    if (printed := printed_patch(services, order.run, task.id, attempt.number)) is not None:
        _judge_patch(services, printed, attempt)
        return
    patch = created(
        run=order.run,
        task=task.id,
        attempt=attempt.number,
        source=attempt.agent,
        diff=f"{IN_GIT}{attempt.base} {attempt.commit}",
        paths=changed,
    )
    patch = advance(patch, "validated", "it was made in a checkout of its own")
    _judge_patch(services, advance(patch, "applied", f"kept as {attempt.commit}"), attempt)


def _judge_patch(services: RunServices, patch: Patch, attempt: Attempt) -> None:
    """Say in the ledger what the evidence says of an applied change; harmless when repeated."""
    to: PatchState = "verified" if may_land(attempt.evidence) else "failed"
    if to == "failed" and attempt.evidence.verdict is not Verdict.FAILED:
        return  # a person may still take it
    if patch.state == "applied" or (patch.state == "verified" and to == "failed"):
        services.books.patches.keep(advance(patch, to, attempt.evidence.reason))


def printed_patch(services: RunServices, run: str, task: str, attempt: int) -> Patch | None:
    """The diff that an attempt's agent printed and that was applied, where that is what it did."""
    known = services.books.patches.of_task(run, task)
    return next((one for one in known if one.attempt == attempt and not one.diff.startswith(IN_GIT)), None)
