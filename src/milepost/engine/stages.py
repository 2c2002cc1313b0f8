"""The stages of a run, each a recorded step that may be run twice and makes the same thing twice."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

from milepost.core.attempt import Assignment, Attempt, Outcome, Workspace
from milepost.core.errors import GitFailed, MachineFailed
from milepost.core.events import StageStarted
from milepost.core.memories import Episode
from milepost.core.ports import Agent
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence, judge
from milepost.engine.durable import step
from milepost.engine.order import Acted, Arrival, Candidate, Conflict, Landed, Landing, Order, Try, Unproven
from milepost.engine.rooms import Rooms, agent_name
from milepost.engine.telling import CheckTeller, Narrator, tell_attempt
from milepost.engine.wire import dump, load
from milepost.plan.graph import plan as make_plan
from milepost.repair.evidence import what_failed
from milepost.roadmap import read
from milepost.roadmap.tick import tick
from milepost.verify.verify import checks_for
from milepost.verify.verify import verify as run_checks
from milepost.workspace.mileposts import attempt_ref, milepost_message, run_branch

Plain = dict[str, Any]


@step
def survey(here: Rooms, order: Plain) -> Plain:
    """Read the roadmap at the run's base, plan it, and make the run's branch."""
    asked = load(Order, order)
    if here.mileposts.resolve(run_branch(asked.run)) is None:
        here.mileposts.keep(run_branch(asked.run), asked.base)
    return dump(make_plan(read(_roadmap_at(here, asked, asked.base))))


@step
def act(here: Rooms, order: Plain, task: Plain, base: str, history: list[Plain]) -> Plain:
    """Let the agent do one attempt in a fresh checkout, and keep what it left as a commit on a ref of its own."""
    asked, job = load(Order, order), load(Task, task)
    number, who = len(history) + 1, agent_name(job, asked.agent)
    started = time.monotonic()
    here.announce(
        StageStarted(run=asked.run, task=job.id, title=job.title, attempt=number, stage="act", agent=who),
        f"{job.id}/{number}/act",
    )
    name = f"{asked.run}-{job.id}-act"
    workspace = here.checkouts.make(name, base)
    assignment = _assignment(here, asked, job, number, tuple(load(Try, one).attempt for one in history))
    outcome = _let_act(here, here.agent(who), assignment, workspace)
    roadmap = _roadmap_at(here, asked, base)
    snapshot = here.checkouts.snapshot(workspace, keep=(asked.roadmap,))
    tree = snapshot.tree or here.mileposts.tree_of(base)
    message = f"Attempt {number} at {job.id}: {job.title}\n\nby {who}, not verified\n"
    commit = here.mileposts.commit(tree, base, message, asked.stamp())
    here.mileposts.keep(attempt_ref(asked.run, job.id, number), commit)
    here.checkouts.drop(name)
    candidate = Candidate(
        attempt=number,
        agent=who,
        base=base,
        tree=here.mileposts.with_file(tree, asked.roadmap, tick(roadmap, job.id)),
        changed=snapshot.changed,
        problem=here.redact(snapshot.problem or _complaint(outcome)),
    )
    return dump(
        Acted(
            candidate=candidate,
            commit=commit,
            outcome=replace(outcome, said=here.redact(outcome.said)),
            finished_at=int(time.time()),
            duration_ms=_since(started),
        )
    )


@step
def verify(here: Rooms, order: Plain, task: Plain, candidate: Plain) -> Plain:
    """Put the checks to a candidate's tree in a clean checkout of it."""
    asked, job, given = load(Order, order), load(Task, task), load(Candidate, candidate)
    key = f"{job.id}/{given.attempt}/verify/{given.tree}"
    here.announce(StageStarted(run=asked.run, task=job.id, title=job.title, attempt=given.attempt, stage="verify"), key)
    tell = CheckTeller(here, asked.run, job.id, given.attempt, key)
    if given.problem:
        summary, _, log = given.problem.partition("\n")
        given_up = CheckResult(name="agent", outcome="failed", summary=summary, log=log)
        tell(given_up)
        return dump(judge(given.tree, (given_up,)))
    before = here.baselines.at(given.base, here.mileposts.tree_of(given.base))
    checks = checks_for(job, changed=given.changed, bench=here.bench, before=before, agent=given.agent)
    name = f"{asked.run}-{job.id}-verify"
    evidence = run_checks(here.checkouts.make(name, given.base, tree=given.tree), checks, given.tree, here.redact, tell)
    here.checkouts.drop(name)
    here.baselines.learn(evidence)
    return dump(evidence)


@step
def land(here: Rooms, order: Plain, task: Plain, last: Plain, head: str) -> Plain:
    """Bring proven work to the run's branch, or say what stands in the way."""
    asked, job, one = load(Order, order), load(Task, task), load(Try, last)
    branch = run_branch(asked.run)
    tip = here.mileposts.resolve(branch)
    if tip is None:
        raise MachineFailed(f"the branch {branch} is gone", f"bring it back: git branch milepost/{asked.run} {head}")
    landed = next((post for post in here.mileposts.history(tip, since=asked.base) if post.task == job.id), None)
    if landed is not None:
        return _plain(Landed(commit=landed.commit))
    if tip != head:
        raise MachineFailed(
            f"the branch {branch} was moved by somebody else, from {head[:7]} to {tip[:7]}",
            f"put it back with: git update-ref {branch} {head}   then: milepost resume",
        )
    if here.project.repository.stands_on(branch):
        raise MachineFailed(
            f"milepost/{asked.run} is checked out in your tree, so it cannot move on",
            "git switch to another branch, then: milepost resume",
        )
    evidence = one.attempt.evidence
    if one.proven_on != head:
        candidate = _on_top_of(here, asked, job, one.attempt, head)
        if candidate is None:
            return _plain(Conflict(paths=here.mileposts.conflicts(head, one.attempt.commit)))
        if candidate != evidence.tree:
            return _plain(Unproven(tree=candidate))
    here.announce(
        StageStarted(run=asked.run, task=job.id, title=job.title, attempt=one.attempt.number, stage="land"),
        f"{job.id}/{one.attempt.number}/land",
    )
    message = milepost_message(
        task=job.id,
        title=job.title,
        run=asked.run,
        attempt=one.attempt.number,
        agent=one.attempt.agent,
        roadmap=asked.roadmap,
    )
    stamp = asked.stamp(one.finished_at)
    commit = here.mileposts.commit(evidence.tree, head, message, stamp)
    here.mileposts.annotate(commit, note_for(asked.run, job.id, one.attempt), stamp)
    here.mileposts.move(branch, commit, head)
    return _plain(Landed(commit=commit))


@step
def arrive(here: Rooms, order: Plain, head: str) -> Plain:
    """Move the user's own branch to where the run's is, when nothing of theirs can be in the way."""
    asked = load(Order, order)
    repository, short = here.project.repository, f"milepost/{asked.run}"
    now = repository.position()
    if head == asked.user.commit:
        here.mileposts.forget(run_branch(asked.run), head)
        arrival = Arrival()
    elif now.commit == head:
        arrival = Arrival(fast_forwarded=now.branch or "HEAD")
    elif not here.mileposts.is_ancestor(now.commit, head):
        arrival = Arrival(by_hand=f"git merge {short}")
    elif now != asked.user or not repository.is_clean() or repository.uses_filters(head):
        arrival = Arrival(by_hand=f"git merge --ff-only {short}")
    else:
        try:
            repository.fast_forward(head, (here.lock_fd,))
            arrival = Arrival(fast_forwarded=now.branch or "HEAD")
        except GitFailed:
            arrival = Arrival(by_hand=f"git merge --ff-only {short}")
    return dump(arrival)


def record(here: Rooms, order: Plain, task: Plain, acted: Plain, evidence: Plain) -> Plain:
    """Put an attempt together from its recorded parts, and keep it where it is looked for; harmless when repeated."""
    asked, job = load(Order, order), load(Task, task)
    left, found = load(Acted, acted), load(Evidence, evidence)
    attempt = Attempt(
        number=left.candidate.attempt,
        agent=left.candidate.agent,
        base=left.candidate.base,
        commit=left.commit,
        outcome=left.outcome,
        evidence=found,
        duration_ms=left.duration_ms + sum(check.duration_ms for check in found.checks),
    )
    here.journal.keep_attempt(asked.run, job.id, attempt)
    here.memory.record(
        Episode(
            run=asked.run,
            task=job.id,
            title=job.title,
            attempt=attempt.number,
            agent=attempt.agent,
            verdict=found.verdict,
            reason=found.reason,
            duration_ms=attempt.duration_ms,
            cost_usd=attempt.outcome.cost_usd,
        )
    )
    tell_attempt(here, asked.run, job.id, attempt, "finished")
    return dump(Try(attempt=attempt, proven_on=attempt.base, finished_at=left.finished_at))


def corrected(here: Rooms, run: str, task: str, last: Try, evidence: Evidence, head: str) -> Try:
    """The last attempt with newer evidence, for its work on top of `head`; harmless when repeated."""
    attempt = replace(last.attempt, evidence=evidence)
    here.journal.keep_attempt(run, task, attempt)
    if evidence.verdict is not last.attempt.evidence.verdict:
        tell_attempt(here, run, task, attempt, f"corrected/{evidence.tree}")
    return replace(last, attempt=attempt, proven_on=head)


def note_for(run: str, task: str, attempt: Attempt) -> str:
    """The evidence as it travels with the milepost: all but the commit, which is the one it is attached to."""
    body = {"version": 1, "run": run, "task": task, "attempt": attempt.number, "agent": attempt.agent}
    return json.dumps(body | {"evidence": dump(attempt.evidence)}, indent=1, sort_keys=True) + "\n"


def _on_top_of(here: Rooms, order: Order, task: Task, attempt: Attempt, head: str) -> str | None:
    """The tree that would land: the attempt's work on `head`, with the box ticked; None where they conflict."""
    merged = here.mileposts.merge(head, attempt.commit)
    if merged is None:
        return None
    return here.mileposts.with_file(merged, order.roadmap, tick(_roadmap_at(here, order, head), task.id))


def _roadmap_at(here: Rooms, order: Order, commit: str) -> bytes:
    content = here.mileposts.file_at(commit, order.roadmap)
    if content is None:
        raise MachineFailed(f"{order.roadmap} is not in commit {commit[:7]}", "start a new run: milepost run --new")
    return content


def _assignment(here: Rooms, order: Order, task: Task, number: int, history: tuple[Attempt, ...]) -> Assignment:
    return Assignment(
        run=order.run,
        task=task.id,
        title=task.title,
        text=task.text,
        attempt=number,
        files=task.files,
        verify=task.verify,
        evidence=what_failed(history),
        lessons=here.memory.recall(task).lines,
        inputs=task.inputs,
    )


def _let_act(here: Rooms, agent: Agent, assignment: Assignment, workspace: Workspace) -> Outcome:
    """Let the agent do its work; one that breaks has given up, unless it was the machine that broke."""
    narrator = Narrator(here, assignment.run, assignment.task, assignment.attempt)
    try:
        return agent.act(assignment, workspace, here.tools(narrator))
    except MachineFailed:
        raise
    except Exception as error:
        return Outcome(status="gave_up", said=f"{type(error).__name__}: {error}")


def _complaint(outcome: Outcome) -> str:
    """Why an agent that did not finish has not, the first line in short; empty when it says that it has."""
    words = {"finished": "", "gave_up": "the agent gave up", "timed_out": "the agent ran out of time"}[outcome.status]
    if not words:
        return ""
    said = outcome.said.strip().splitlines() or ["it did not say why"]
    return "\n".join([f"{words}: {': '.join(dict.fromkeys((said[0], said[-1])))}", *said])


def _plain(result: Landed | Unproven | Conflict) -> Plain:
    return dump(Landing(result=result))


def _since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
