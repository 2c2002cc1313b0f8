"""The stages of a run, each a recorded step that may be run twice and makes the same thing twice."""

from __future__ import annotations

import hashlib
import shlex
import time
from dataclasses import replace
from typing import Any

from milepost.core.approval import verdict_words
from milepost.core.attempt import SERVER_SILENT, Outcome
from milepost.core.errors import MachineFailed
from milepost.core.events import AgentSaid, GateKind, ServiceWaits, StageStarted
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, judge
from milepost.engine.attempt import write_tests as tester
from milepost.engine.attempt.act import ServiceLimited, attempted
from milepost.engine.attempt.candidate import corrections_of, keep, roadmap_at
from milepost.engine.attempt.recipes import try_recipes
from milepost.engine.attempt.record import commit_patch, note_for
from milepost.engine.attempt.write_tests import wants_tests, with_kept_tests
from milepost.engine.events.emit import CheckTeller, command_teller
from milepost.engine.gates.ask import gate_for, wait_for_answer
from milepost.engine.memory.learn import learn_from
from milepost.engine.planning.make_plan import ended_in, settled
from milepost.engine.planning.repository_facts import ground_at
from milepost.engine.records.gates import Gate, given_answers
from milepost.engine.records.run_spec import (
    PARTS,
    RECIPE,
    AttemptSpec,
    BranchMove,
    Candidate,
    Conflict,
    FinishedAttempt,
    Landed,
    MergeResult,
    NextAttempt,
    Rebased,
    RunSpec,
    Unproven,
)
from milepost.engine.records.values_json import dump, load
from milepost.engine.run.durable import step
from milepost.engine.run.merge import foreseen, observed_before, on_top_of
from milepost.engine.run.move_branch import Branch
from milepost.engine.run.roadmap_edits import is_followed_edit, with_roadmap, with_users_roadmap
from milepost.engine.run.tell_base import red_base_of
from milepost.engine.services import RunServices
from milepost.engine.verification.kept_tests import KeptTests
from milepost.plan.graph.build_graph import plan as make_plan
from milepost.repair.diagnosis.classify import classify
from milepost.repair.diagnosis.service_errors import stated_wait_s
from milepost.repair.recipes.recipe import Correction
from milepost.repair.strategy.retry_policy import wait_for_service_s
from milepost.roadmap import read
from milepost.verify.checks.secrets import secrets_found
from milepost.verify.judging.red_base import with_hints
from milepost.workspace.mileposts import milepost_message, run_branch

Plain = dict[str, Any]


@step
def survey(services: RunServices, order: Plain) -> Plain:
    """Read the roadmap at the run's base, plan it, and make the run's branch."""
    asked = load(RunSpec, order)
    if services.mileposts.resolve(run_branch(asked.run)) is None:
        services.mileposts.keep(run_branch(asked.run), asked.base)
    ended = ended_in(services.mileposts, asked.base, asked.roadmap)
    roadmap = settled(read(roadmap_at(services, asked, asked.base), asked.manner), ended)
    ground = ground_at(roadmap.tasks, services.mileposts, asked.base, asked.planning)
    plan = make_plan(roadmap, asked.planning, ground)
    alone = replace(asked.planning, grouping="none")
    expected = foreseen(services, plan, asked)
    return {
        "plan": dump(plan),
        "alone": dump(make_plan(roadmap, alone, ground)) if alone != asked.planning else None,
        "ground": dump(ground),
        "observed": observed_before(services, plan, asked.tasks),
        "forecast": dump(expected) if expected is not None else None,
    }


@step
def write_tests(services: RunServices, order: Plain, task: Plain, base: str, agent: str) -> Plain:
    """Let another agent write tests before anybody works on a task, where the settings and the task ask for it."""
    asked, job = load(RunSpec, order), load(Task, task)
    if wants_tests(services, job, base, agent):
        tester.write_tests(services, asked, job, base)
    return {}


@step
def act(services: RunServices, order: Plain, task: Plain, base: str, history: list[Plain], way: Plain) -> Plain:
    """Let the agent do one attempt in a fresh checkout, and keep what it left as a commit on a ref of its own."""
    asked, job, how = load(RunSpec, order), load(Task, task), load(NextAttempt, way)
    tries = tuple(load(FinishedAttempt, one) for one in history)
    effort = AttemptSpec(order=asked, task=job, number=len(tries) + 1, agent=how.agent)
    started = time.monotonic()
    services.announce(
        StageStarted(run=asked.run, task=job.id, title=job.title, attempt=effort.number, stage="act", agent=how.agent),
        f"{job.id}/{effort.number}/act",
    )
    services.examiner.look_ahead(base, job)
    if not tries and (said := red_base_of(services, base)):
        services.announce(
            AgentSaid(run=asked.run, task=job.id, attempt=effort.number, text=services.redact(said), by_engine=True),
            f"{job.id}/{effort.number}/base",
        )
    done = attempted(services, effort, base, tries, how)
    if isinstance(done, Gate):
        return {"gate": dump(done)}
    if isinstance(done, ServiceLimited):
        return _wait_for_service(services, effort, str(done), how.rounds)
    candidate = replace(done.candidate, corrections=corrections_of(tries))
    return dump(replace(done, candidate=candidate, duration_ms=_since(started)))


@step
def gather(services: RunServices, order: Plain, task: Plain, base: str, history: list[Plain], way: Plain) -> Plain:
    """Make the candidate of a task whose parts are done: nothing is left but to tick it."""
    asked, job, how = load(RunSpec, order), load(Task, task), load(NextAttempt, way)
    name = f"{asked.run}-{job.id}-act"
    effort = AttemptSpec(order=asked, task=job, number=len(history) + 1, agent=how.agent)
    outcome = Outcome(status="finished", said="its parts are done")
    kept = keep(services, effort, services.checkouts.make(name, base), outcome)
    services.checkouts.drop(name)
    return dump(kept)


def pause(services: RunServices, seconds: float, since: int) -> float:
    """Wait before an attempt, from the second in which the one before ended; a stop is not kept waiting.

    Gives how long it was. It goes by the clock on the wall, which also counts while the machine sleeps.
    """
    begun, until = time.monotonic(), since + 1 + seconds
    while (left := min(seconds, until - time.time())) > 0 and not services.parking.stopping:
        services.parking.wait(min(left, 1.0))
    return time.monotonic() - begun


def wait_before(
    services: RunServices, order: Plain, task: Plain, history: list[Plain], wait_s: float, waited_s: float
) -> float:
    """Wait before an attempt, as long as the one before asks for; gives how long a service has been waited for."""
    if not history:
        return 0.0
    last = load(FinishedAttempt, history[-1])
    if last.attempt.outcome.status != "limited":
        pause(services, wait_s, since=last.finished_at)
        return 0.0
    said, number = last.attempt.outcome.said, last.attempt.number
    stated = stated_wait_s(said, last.finished_at) is not None
    waits = {"limited": said, "wait_s": wait_s, "at": last.finished_at, "stated": stated}
    _tell_wait(services, order["run"], task["id"], number, waits, f"{task['id']}/{number}/limited")
    return wait_for_service(services, waits, waited_s)


def wait_for_service(services: RunServices, limited: Plain, waited_s: float) -> float:
    """Wait until the service of an attempt may be asked again; gives how long it has been waited for in vain.

    A stated time is waited for whatever it is. Else the run parks in the end: it was never the work that failed.
    """
    patience_s = services.settings.limits.service_wait_s
    if waited_s >= patience_s:
        raise MachineFailed(
            f"{_cause(limited['limited'])} (asked again and again for {waited_s / 60:.0f} min)",
            "nothing is lost; when the service is back: milepost resume",
        )
    stated = limited.get("stated", True)
    paused_s = pause(services, limited["wait_s"] if stated else min(limited["wait_s"], patience_s), limited["at"])
    return waited_s if stated else waited_s + paused_s


@step
def mend(services: RunServices, order: Plain, task: Plain, history: list[Plain]) -> Plain:
    """Let the recipes mend what the last attempt left; nothing when none of them fits."""
    asked, job = load(RunSpec, order), load(Task, task)
    tries = tuple(load(FinishedAttempt, one) for one in history)
    last = tries[-1]
    failure = classify(last.attempt)
    if failure is None or not asked.repairs.recipes or asked.repairs.mode != "auto-fix":
        return {}
    started = time.monotonic()
    name = f"{asked.run}-{job.id}-mend"
    workspace = services.checkouts.make(name, last.attempt.base, tree=last.left)
    done, told = try_recipes(services, asked, job, tries, failure, workspace)
    if done is None:
        services.checkouts.drop(name)
        return {"told": list(told)}
    effort = AttemptSpec(order=asked, task=job, number=len(tries) + 1, agent=f"{RECIPE}{done.recipe}")
    kept = keep(services, effort, workspace, Outcome(status="finished", said=done.what))
    services.checkouts.drop(name)
    more = ((done.path_named, done.path_found),) if isinstance(done, Correction) else ()
    candidate = replace(kept.candidate, corrections=(*last.corrections, *more))
    return {"told": list(told), "acted": dump(replace(kept, candidate=candidate, duration_ms=_since(started)))}


@step
def verify(services: RunServices, order: Plain, task: Plain, candidate: Plain) -> Plain:
    """Put the checks to a candidate's tree in a clean checkout of it."""
    asked, job, given = load(RunSpec, order), load(Task, task), load(Candidate, candidate)
    if given.agent == PARTS:
        job = replace(job, changes_nothing=True)
    key = f"{job.id}/{given.attempt}/verify/{given.tree}"
    services.announce(
        StageStarted(run=asked.run, task=job.id, title=job.title, attempt=given.attempt, stage="verify"), key
    )
    tell = CheckTeller(services, asked.run, job.id, given.attempt, key)
    if refused := _refused_unseen(given):
        for check in refused:
            tell(check)
        return dump(judge(given.tree, refused))
    commands = command_teller(services, asked.run, job.id, given.attempt, "milepost")
    with services.examiner.logging.told_by(commands.around):
        found = services.examiner.examine(job, given, asked.roadmap, _checkout(asked, job, given), tell)
        return dump(with_hints(found, services.project.repository.has_ignored))


@step
def couple(services: RunServices, order: Plain, task: Plain, last: Plain, on: str) -> Plain:
    """Put an attempt's work on top of what lands before it."""
    asked, job, one = load(RunSpec, order), load(Task, task), load(FinishedAttempt, last)
    there = on_top_of(services, asked, job, one.attempt, on)
    if isinstance(there, Rebased):
        services.mileposts.keep(f"refs/milepost-train/{asked.run}/{job.id}", there.commit)
    return _plain(there)


@step
def land(services: RunServices, order: Plain, task: Plain, last: Plain, head: str) -> Plain:
    """Bring proven work to the run's branch, or say what stands in the way."""
    asked, job, one = load(RunSpec, order), load(Task, task), load(FinishedAttempt, last)
    branch = run_branch(asked.run)
    tip = services.mileposts.resolve(branch)
    if tip is None:
        raise MachineFailed(f"the branch {branch} was deleted", f"recreate it: git branch milepost/{asked.run} {head}")
    landed = next((post for post in services.mileposts.history(tip, since=asked.base) if post.task == job.id), None)
    if landed is not None:
        commit_patch(services, asked.run, job.id, one.attempt.number, landed.commit)
        return _plain(Landed(commit=landed.commit))
    if tip != head:
        raise MachineFailed(
            f"the branch {branch} was moved by somebody else, from {head[:7]} to {tip[:7]}",
            f"put it back with: git update-ref {branch} {head}   then: milepost resume",
        )
    if services.project.repository.stands_on(branch):
        raise MachineFailed(
            f"milepost/{asked.run} is checked out in your working tree, so the run cannot update it",
            "git switch to another branch, then: milepost resume",
        )
    evidence = one.attempt.evidence
    if one.proven_on != head and services.mileposts.tree_of(one.proven_on) != services.mileposts.tree_of(head):
        there = on_top_of(services, asked, job, one.attempt, head)
        if isinstance(there, Conflict):
            return _plain(there)
        if there.tree != evidence.tree:
            return _plain(Unproven(tree=there.tree))
    services.announce(
        StageStarted(run=asked.run, task=job.id, title=job.title, attempt=one.attempt.number, stage="land"),
        f"{job.id}/{one.attempt.number}/land",
    )
    tree, agent = with_kept_tests(services, asked, job, evidence.tree), services.redact(one.attempt.agent)
    proven = replace(one.attempt, agent=agent, evidence=replace(evidence, tree=tree))
    note = note_for(asked.run, job.id, replace(one, attempt=proven))
    message = milepost_message(
        task=job.id,
        title=services.redact(job.title),
        run=asked.run,
        attempt=one.attempt.number,
        agent=agent,
        roadmap=asked.roadmap,
        evidence=note,
        members=job.members,
        verdict=verdict_words(evidence),
    )
    stamp = asked.stamp(one.finished_at)
    commit = services.mileposts.commit(tree, head, message, stamp)
    services.mileposts.annotate(commit, note, stamp)
    services.mileposts.move(branch, commit, head)
    commit_patch(services, asked.run, job.id, one.attempt.number, commit)
    return _plain(Landed(commit=commit))


@step
def learn(services: RunServices, order: Plain, task: Plain, history: list[Plain]) -> Plain:
    """Learn from a task that is over, whatever came of it."""
    learn_from(services, load(RunSpec, order), load(Task, task), tuple(load(FinishedAttempt, one) for one in history))
    return {}


@step
def arrive(services: RunServices, order: Plain, head: str) -> Plain:
    """Move the user's own branch to where the run's is, when nothing of theirs can be in the way."""
    asked = load(RunSpec, order)
    KeptTests(journal=services.books.journal, run=asked.run).forget()
    services.mileposts.forget_below(f"refs/milepost-calls/{asked.run}", f"refs/milepost-train/{asked.run}")
    repository, short = services.project.repository, f"milepost/{asked.run}"
    now = repository.position()
    head = with_users_roadmap(services, asked, head, now.commit)
    if services.project.server and head != asked.user.commit:
        arrival = BranchMove(by_hand=f"git fetch origin {short}:{short} && git merge --ff-only {short}")
    elif head == asked.user.commit:
        services.mileposts.forget(run_branch(asked.run), head)
        arrival = BranchMove()
    elif asked.held:
        arrival = BranchMove(by_hand="milepost together --resume")
    elif now.commit == head:
        arrival = BranchMove(fast_forwarded=now.branch or "HEAD")
    elif not services.mileposts.is_ancestor(now.commit, head):
        arrival = BranchMove(by_hand=f"git merge {short}", why="it has commits that the run does not know")
    elif is_followed_edit(services, asked, head):
        place = shlex.quote(asked.roadmap)
        arrival = BranchMove(by_hand=f"git checkout -- {place} && git merge --ff-only {short}")
    elif now.branch != asked.user.branch:
        why = f"you are on {now.branch or 'no branch'}, and the run began on {asked.user.branch or 'no branch'}"
        arrival = BranchMove(by_hand=f"git merge --ff-only {short}", why=why)
    elif (obstacle := _branch(services, asked, head).move()) is not None:
        arrival = BranchMove(by_hand=f"git merge --ff-only {short}", why=obstacle.why)
    else:
        arrival = BranchMove(fast_forwarded=now.branch or "HEAD")
    return dump(replace(arrival, head=head))


def _branch(services: RunServices, order: RunSpec, head: str) -> Branch:
    """The user's branch, on its way to the head of the run's."""
    project, held = services.project, (services.lock_fd,)
    git = project.repository.git(project.state / "git", held)
    name = f"milepost/{order.run}"
    return Branch(project=project, git=git, name=order.user.branch, head=head, head_name=name, held_fds=held)


@step
def adopt(services: RunServices, order: Plain, head: str, roadmap: str) -> str:
    """Put an edited roadmap on the run's branch, so that its new tasks have boxes to tick; the head as it is then."""
    asked = load(RunSpec, order)
    branch = run_branch(asked.run)
    commit = with_roadmap(services, asked, head, roadmap.encode())
    tip = services.mileposts.resolve(branch)
    if commit is None or tip == commit:
        return tip or head
    services.mileposts.move(branch, commit, head)
    return commit


@step
def question(services: RunServices, order: Plain, task: Plain, kind: GateKind, last: Plain) -> Plain:
    """The question that a person must answer before a task goes on, with what they are shown; empty without one."""
    asked, job = load(RunSpec, order), load(Task, task)
    gate = gate_for(services, asked, job, kind, load(FinishedAttempt, last) if last else None)
    return dump(gate) if gate is not None else {}


@step
def held_answers(services: RunServices, order: Plain, names: list[str]) -> list[Plain]:
    """What people have answered by now about held work: looked at once more before the run ends without them."""
    return given_answers(services.books.gates, load(RunSpec, order).run, names)


@step
def answered(services: RunServices, order: Plain, gate: Plain) -> Plain:
    """Wait for a person's answer, for as long as it takes."""
    return wait_for_answer(services, load(Gate, gate))


def _refused_unseen(candidate: Candidate) -> tuple[CheckResult, ...]:
    """What is wrong with a candidate before anything of it is run; its tree is not what the agent left then."""
    summary, _, log = candidate.problem.partition("\n")
    given_up = (CheckResult(name="agent", outcome="failed", summary=summary, log=log),) if candidate.problem else ()
    return (*given_up, *((secrets_found(candidate.leaks),) if candidate.leaks else ()))


def _checkout(order: RunSpec, task: Task, candidate: Candidate) -> str:
    """The name of the checkout that a candidate is verified in: another one for each tree on each base.

    It says nothing of the task: work that looks at its own path must not learn that it is being judged.
    """
    which = hashlib.sha256(task.id.encode()).hexdigest()[:8]
    return f"{order.run}-{which}-{candidate.base[:6]}-{candidate.tree[:6]}"


def _plain(result: Landed | Unproven | Conflict | Rebased) -> Plain:
    return dump(MergeResult(result=result))


def _since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)


def _wait_for_service(services: RunServices, effort: AttemptSpec, said: str, rounds: int) -> Plain:
    """What an attempt waits for that its service lets wait, and until when; also told."""
    now, said = time.time(), services.redact(said)
    stated_s = stated_wait_s(said, now)
    wait_s = wait_for_service_s(stated_s, rounds)
    waits = {"limited": said, "wait_s": wait_s, "at": int(now), "stated": wait_s == stated_s}
    key = f"{effort.task.id}/{effort.number}/limited/{rounds}"
    _tell_wait(services, effort.order.run, effort.task.id, effort.number, waits, key)
    return waits


def _tell_wait(services: RunServices, run: str, task: str, attempt: int, waits: Plain, key: str) -> None:
    until = waits["at"] + 1 + waits["wait_s"]
    told = ServiceWaits(
        run=run, task=task, attempt=attempt, what=_cause(waits["limited"]), until=until, stated=waits["stated"]
    )
    services.announce(told, key)


def _cause(said: str) -> str:
    """What a service said, or that it does not answer, in one line."""
    lines = said.strip().splitlines() or [""]
    return lines[0] if not lines[-1].startswith(SERVER_SILENT) else f"{lines[-1]}: {lines[0]}"
