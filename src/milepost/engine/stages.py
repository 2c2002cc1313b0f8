"""The stages of a run, each a recorded step that may be run twice and makes the same thing twice."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from milepost.core.attempt import Attempt, Outcome
from milepost.core.errors import GitFailed, MachineFailed
from milepost.core.events import StageStarted
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, judge
from milepost.engine.durable import step
from milepost.engine.efforts import Effort, assignment_for, corrections_of, keep, let_act, roadmap_at, ticked
from milepost.engine.mending import try_recipes
from milepost.engine.onward import PARTS, RECIPE
from milepost.engine.order import Arrival, Candidate, Conflict, Landed, Landing, Order, Try, Unproven, Way
from milepost.engine.records import commit_patch, note_for
from milepost.engine.rooms import Rooms
from milepost.engine.telling import CheckTeller
from milepost.engine.wire import dump, load
from milepost.plan.graph import plan as make_plan
from milepost.repair.classify import classify
from milepost.repair.recipes.recipe import Correction
from milepost.roadmap import read
from milepost.workspace.mileposts import milepost_message, run_branch

Plain = dict[str, Any]


@step
def survey(here: Rooms, order: Plain) -> Plain:
    """Read the roadmap at the run's base, plan it, and make the run's branch."""
    asked = load(Order, order)
    if here.mileposts.resolve(run_branch(asked.run)) is None:
        here.mileposts.keep(run_branch(asked.run), asked.base)
    return dump(make_plan(read(roadmap_at(here, asked, asked.base))))


@step
def act(here: Rooms, order: Plain, task: Plain, base: str, history: list[Plain], way: Plain) -> Plain:
    """Let the agent do one attempt in a fresh checkout, and keep what it left as a commit on a ref of its own."""
    asked, job, how = load(Order, order), load(Task, task), load(Way, way)
    tries = tuple(load(Try, one) for one in history)
    effort = Effort(order=asked, task=job, number=len(tries) + 1, agent=how.agent)
    started = time.monotonic()
    here.announce(
        StageStarted(run=asked.run, task=job.id, title=job.title, attempt=effort.number, stage="act", agent=how.agent),
        f"{job.id}/{effort.number}/act",
    )
    here.examiner.look_ahead(base, job)
    name = f"{asked.run}-{job.id}-act"
    workspace = here.checkouts.make(name, base, tree=how.tree)
    assignment = assignment_for(here, effort, tries, how)
    outcome = let_act(here, effort, assignment, workspace)
    kept = keep(here, effort, workspace, outcome)
    here.checkouts.drop(name)
    candidate = replace(kept.candidate, corrections=corrections_of(tries))
    return dump(replace(kept, candidate=candidate, duration_ms=_since(started)))


@step
def gather(here: Rooms, order: Plain, task: Plain, base: str, history: list[Plain], way: Plain) -> Plain:
    """Make the candidate of a task whose parts are done: nothing is left but to tick it."""
    asked, job, how = load(Order, order), load(Task, task), load(Way, way)
    name = f"{asked.run}-{job.id}-act"
    effort = Effort(order=asked, task=job, number=len(history) + 1, agent=how.agent)
    outcome = Outcome(status="finished", said="its parts are done")
    kept = keep(here, effort, here.checkouts.make(name, base), outcome)
    here.checkouts.drop(name)
    return dump(kept)


def pause(here: Rooms, seconds: float, since: int) -> None:
    """Wait before an attempt, from the second in which the one before ended; a stop is not kept waiting."""
    until = time.monotonic() + min(seconds, since + 1 + seconds - time.time())
    while (left := until - time.monotonic()) > 0 and not here.parking.stopping:
        here.parking.wait(min(left, 1.0))


@step
def mend(here: Rooms, order: Plain, task: Plain, history: list[Plain]) -> Plain:
    """Let the recipes mend what the last attempt left; nothing when none of them fits."""
    asked, job = load(Order, order), load(Task, task)
    tries = tuple(load(Try, one) for one in history)
    last = tries[-1]
    failure = classify(last.attempt)
    if failure is None or not asked.repairs.recipes or asked.repairs.mode != "auto-fix":
        return {}
    started = time.monotonic()
    name = f"{asked.run}-{job.id}-mend"
    workspace = here.checkouts.make(name, last.attempt.base, tree=last.left)
    done, told = try_recipes(here, asked, job, tries, failure, workspace)
    if done is None:
        here.checkouts.drop(name)
        return {"told": list(told)}
    effort = Effort(order=asked, task=job, number=len(tries) + 1, agent=f"{RECIPE}{done.recipe}")
    kept = keep(here, effort, workspace, Outcome(status="finished", said=done.what))
    here.checkouts.drop(name)
    more = ((done.path_named, done.path_found),) if isinstance(done, Correction) else ()
    candidate = replace(kept.candidate, corrections=(*last.corrections, *more))
    return {"told": list(told), "acted": dump(replace(kept, candidate=candidate, duration_ms=_since(started)))}


@step
def verify(here: Rooms, order: Plain, task: Plain, candidate: Plain) -> Plain:
    """Put the checks to a candidate's tree in a clean checkout of it."""
    asked, job, given = load(Order, order), load(Task, task), load(Candidate, candidate)
    if given.agent == PARTS:
        job = replace(job, changes_nothing=True)
    key = f"{job.id}/{given.attempt}/verify/{given.tree}"
    here.announce(StageStarted(run=asked.run, task=job.id, title=job.title, attempt=given.attempt, stage="verify"), key)
    tell = CheckTeller(here, asked.run, job.id, given.attempt, key)
    if given.problem:
        summary, _, log = given.problem.partition("\n")
        given_up = CheckResult(name="agent", outcome="failed", summary=summary, log=log)
        tell(given_up)
        return dump(judge(given.tree, (given_up,)))
    return dump(here.examiner.examine(job, given, asked.roadmap, f"{asked.run}-{job.id}-verify", tell))


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
    note = note_for(asked.run, job.id, one)
    message = milepost_message(
        task=job.id,
        title=job.title,
        run=asked.run,
        attempt=one.attempt.number,
        agent=one.attempt.agent,
        roadmap=asked.roadmap,
        evidence=note,
    )
    stamp = asked.stamp(one.finished_at)
    commit = here.mileposts.commit(evidence.tree, head, message, stamp)
    here.mileposts.annotate(commit, note, stamp)
    here.mileposts.move(branch, commit, head)
    commit_patch(here, asked.run, job.id, one.attempt.number, commit)
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


def _on_top_of(here: Rooms, order: Order, task: Task, attempt: Attempt, head: str) -> str | None:
    """The tree that would land: the attempt's work on `head`, with the box ticked; None where they conflict."""
    merged = here.mileposts.merge(head, attempt.commit)
    if merged is None:
        return None
    return here.mileposts.with_file(merged, order.roadmap, ticked(here, order, task, head))


def _plain(result: Landed | Unproven | Conflict) -> Plain:
    return dump(Landing(result=result))


def _since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
