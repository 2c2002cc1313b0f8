"""An attempt as an episode: begun when it acts, a step for each recorded call, ended with the engine's verdict.

Nothing here counts twice: an episode has the same name in each life of its run, a step is written down in one with
its call, and what has ended stays as it was first told.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from milepost.core.attempt import Attempt
from milepost.core.calls import Call, Reply
from milepost.core.errors import EpisodeDiverged, EpisodeFull, EpisodeUnknown, SettingInvalid
from milepost.core.failure_signature import signature
from milepost.core.failures import Failure, FailureClass
from milepost.core.memories import (
    UNJUDGED,
    EndKind,
    Episode,
    EpisodeEnd,
    EpisodeStart,
    EpisodeStep,
    Exhibit,
    StepResult,
)
from milepost.core.task import Task
from milepost.core.verdict import Verdict
from milepost.engine.memory.task_kind import circumstances_at, kind_of
from milepost.engine.project.project import Project
from milepost.engine.records.call_log import RecordedCall
from milepost.engine.records.journal import RunRecord
from milepost.engine.records.run_spec import AttemptResult, AttemptSpec, RunSpec
from milepost.memory.assessment.assess import assess
from milepost.memory.memory import StoredMemory
from milepost.memory.store.names import flaw_in_name
from milepost.memory.store.owners import run_owner
from milepost.repair.diagnosis.classify import classify
from milepost.repair.strategy.retry_policy import counts

if TYPE_CHECKING:
    from milepost.engine.services import RunServices

LONGEST_TOLD = 4_000  # of what a model answered and of what an agent said at its end
LONGEST_PRINTED = 10_000
LONGEST_DIFF = 20_000
MOST_NOTES = 50


def project_in_memory(project: Project, named: str, commit: str) -> str:
    """What a project is called in the memory: as the settings say, else by its first commit and the roadmap's folder.

    So it is the same in every clone, and on every machine.
    """
    if called := named.strip():
        if flaw_in_name("project", called):
            raise SettingInvalid(
                f"project under [memory] is not a plain name: {called!r}", "use a few words, not a sentence"
            )
        return called
    first = project.repository.first_commit(commit)[:12] or "unknown"
    folder = project.roadmap_in_tree.rpartition("/")[0]
    if flaw_in_name("project", folder):  # what is kept under such a name could not be brought back from an export
        folder = hashlib.sha256(folder.encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return f"{first}/{folder}" if folder else first


def episode_id(order: RunSpec, task: str, attempt: int, agent: str) -> str:
    """The name of an attempt's episode: the same after a crash, another one for every attempt of every run anywhere.

    An attempt that a person handed to another agent is another episode.
    """
    words = (order.memory.project, order.memory.token, order.run, task, str(attempt), agent)
    return hashlib.sha256("\0".join(words).encode("utf-8", "backslashreplace")).hexdigest()[:24]


def owner_of(order: RunSpec) -> str:
    """Who ends the episodes of a run: its name alone comes again on other machines."""
    return f"{order.run}/{order.memory.token}"


def owner_of_record(record: RunRecord) -> str:
    """The same of a run as the journal knows it."""
    return f"{record.run}/{(record.order.get('memory') or {}).get('token', '')}"


def close_left(memory: StoredMemory, runs: Iterable[RunRecord], asked: frozenset[str]) -> None:
    """End the episodes of runs that are over or were left: nobody else will. They teach nothing.

    Runs in which a person is still `asked` about held work are not over for them.
    """
    over = [record for record in runs if not record.unfinished and record.run not in asked]
    memory.journal.close_interrupted(ended_runs=[owner_of_record(record) for record in over])


def begin(services: RunServices, effort: AttemptSpec, base: str) -> None:
    """Begin the episode of an attempt that acts now, on a commit; harmless when repeated."""
    if effort.order.memory.mode != "off":
        services.books.memory.journal.start(_start(services, effort, base, time.time()))


def _start(services: RunServices, effort: AttemptSpec, base: str, at: float) -> EpisodeStart:
    order, task = effort.order, effort.task
    return EpisodeStart(
        id=episode_id(order, task.id, effort.number, effort.agent),
        project=order.memory.project,
        title=services.redact(task.title),
        started_at=at,
        owner=run_owner(owner_of(order)),
        run=order.run,
        task=task.id,
        attempt=effort.number,
        agent=effort.agent,
        text=services.redact(task.text),
        kind=kind_of(task),
        circumstances=circumstances_at(services.mileposts, base, task),
        files=task.files,
    )


def step_of(call: Call, made: RecordedCall, redact: Callable[[str], str]) -> EpisodeStep:
    """A recorded call as a step."""
    reply, is_model = made.reply, call.kind == "model"
    text = redact(str(reply.refused or reply.body.get("text", "")))
    failed = reply.failed or bool(reply.refused)
    return EpisodeStep(
        tool="model" if is_model else call.name,
        action=redact(call.summary or call.name),
        parameters=_parameters(call, reply, redact),
        result=_result(text, failed=failed),
        observation=text[:LONGEST_TOLD] if is_model else text[-LONGEST_PRINTED:],
        signature=signature(text) if failed and text.strip() else "",
        latency_ms=made.duration_ms,
        tokens=reply.usage.tokens,
        at=time.time(),
    )


def _result(text: str, *, failed: bool) -> StepResult:
    if not failed:
        return "success"
    return "timeout" if "timed out" in text or "out of time" in text else "error"


def _parameters(call: Call, reply: Reply, redact: Callable[[str], str]) -> Mapping[str, Any]:
    """What a call was about beside its summary: the model, the command, what the code noted on its scratchpad."""
    found: dict[str, Any] = {}
    if call.kind == "model":
        found["model"] = call.name
    if call.argv:
        found["argv"] = [redact(word) for word in call.argv]
    notes = [note for note in reply.body.get("notes", ()) if note.get("kind") in ("observation", "failed")]
    if notes:
        found["noted"] = [
            {"kind": note["kind"], "name": redact(note["name"]), "text": redact(note["text"])}
            for note in notes[:MOST_NOTES]
        ]
    return found


def remember_step(services: RunServices, effort: AttemptSpec, call: Call, made: RecordedCall) -> None:
    """Write a step down, in one with its call. An episode that somebody forgot meanwhile gets none."""
    if effort.order.memory.mode == "off":
        return
    name = episode_id(effort.order, effort.task.id, effort.number, effort.agent)
    with suppress(EpisodeUnknown, EpisodeFull):
        services.books.memory.journal.log(name, step_of(call, made, services.shown))


def remember_said(services: RunServices, effort: AttemptSpec, lines: Iterable[str]) -> None:
    """Write down what a program said on its way that makes no calls; once, as it was first told."""
    said = services.shown("\n".join(lines))[-LONGEST_PRINTED:]
    if effort.order.memory.mode == "off" or not said:
        return
    name = episode_id(effort.order, effort.task.id, effort.number, effort.agent)
    step = EpisodeStep(tool=effort.agent.partition(":")[0], action="said", number=1, observation=said)
    with suppress(EpisodeUnknown, EpisodeDiverged):
        services.books.memory.journal.log(name, step)


def end(services: RunServices, order: RunSpec, task: Task, attempt: Attempt, acted: AttemptResult) -> None:
    """End the episode of an attempt with what the engine found out; harmless when repeated."""
    if order.memory.mode == "off":
        return
    journal, name = services.books.memory.journal, episode_id(order, task.id, attempt.number, attempt.agent)
    known = journal.episode(name)
    if known is not None and known.end is not None:
        return
    start = known.start if known is not None else _late_start(services, order, task, attempt, acted)
    ending = _end(services, task, attempt, acted, since=start.started_at)
    before = known.steps if known is not None else ()
    first = max((step.number for step in before), default=0) + 1
    last = [replace(step, number=first + place) for place, step in enumerate(_last_steps(services, attempt, acted))]
    whole = Episode(start=start, steps=(*before, *last), end=ending)
    services.books.memory.record(replace(whole, assessment=assess(whole)))


def _late_start(
    services: RunServices, order: RunSpec, task: Task, attempt: Attempt, acted: AttemptResult
) -> EpisodeStart:
    """The start of an attempt that no agent made: a recipe's, or one that puts parts together."""
    effort = AttemptSpec(order=order, task=task, number=attempt.number, agent=attempt.agent)
    return _start(services, effort, attempt.base, acted.finished_at - attempt.duration_ms / 1000)


def _last_steps(services: RunServices, attempt: Attempt, acted: AttemptResult) -> tuple[EpisodeStep, ...]:
    """What an agent said of its confidence and at its end: all that is known of a program that makes no calls."""
    outcome, at = attempt.outcome, float(acted.finished_at)
    signals = [
        EpisodeStep(tool="signal", action=signal.kind, observation=services.redact(signal.text), at=at)
        for signal in outcome.signals
    ]
    results: dict[str, StepResult] = {"finished": "success", "timed_out": "timeout"}
    said = EpisodeStep(
        tool=attempt.agent.partition(":")[0],
        action=outcome.status,
        result=results.get(outcome.status, "error"),
        observation=outcome.said[-LONGEST_TOLD:],
        latency_ms=acted.duration_ms,
        at=at,
    )
    return (*signals, said)


def _end(services: RunServices, task: Task, attempt: Attempt, acted: AttemptResult, since: float) -> EpisodeEnd:
    evidence, changed, kind = attempt.evidence, acted.candidate.changed, _kind_of_end(attempt)
    failure = classify(attempt, task=task, changed=changed)
    diff = services.shown(services.mileposts.diff(attempt.base, attempt.commit, LONGEST_DIFF)) if changed else ""
    return EpisodeEnd(
        kind=kind,
        ended_at=max(since, float(acted.finished_at)),
        verdict=None if kind == "abstained" else evidence.verdict,
        reason=evidence.reason,
        evidence=(attempt.commit, evidence.tree, *(check.name for check in evidence.checks)),
        signals=(UNJUDGED,) if not judges_agent(attempt, failure) else (),
        changed=changed,
        signatures=(failure.signature,) if failure is not None else (),
        exhibits=(Exhibit(name="change", kind="diff", text=diff),) if diff else (),
        duration_ms=attempt.duration_ms,
        cost_usd=attempt.outcome.cost_usd,
        tokens=attempt.outcome.usage.tokens,
    )


def _kind_of_end(attempt: Attempt) -> EndKind:
    """How an attempt ended; one that its service or its budget cut short was not made, and nothing was verified."""
    if attempt.outcome.status in ("limited", "spent") and attempt.evidence.verdict is not Verdict.PASSED:
        return "abstained"
    ends: dict[Verdict, EndKind] = {Verdict.PASSED: "success", Verdict.FAILED: "failure"}
    return ends.get(attempt.evidence.verdict, "partial")


def judges_agent(attempt: Attempt, failure: Failure | None) -> bool:
    """Whether an attempt tells how good its agent is.

    What nobody could verify, a limited service, a merge and a machine that lacks a program say nothing of an agent.
    """
    if attempt.evidence.verdict is Verdict.PASSED:
        return True
    if attempt.evidence.verdict in (Verdict.UNVERIFIED, Verdict.HELD) or failure is None or not counts(failure):
        return False
    return failure.kind is not FailureClass.TOOL_FAILURE or failure.check == "agent"
