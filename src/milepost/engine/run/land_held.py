"""Landing held work after its run: onto the branch as it is now, without an agent, and without a check run twice.

Every part may be cut short and be done again: the same commit is made, a branch that moved stays, rows are kept once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from milepost.core.approval import end_reason, verdict_words
from milepost.core.attempt import Attempt
from milepost.core.errors import LandingRefused, RunUnfinished
from milepost.core.events import MilepostMade, RunFinished, TaskSummary
from milepost.core.verdict import CheckResult, Evidence, Verdict
from milepost.engine.attempt import record
from milepost.engine.memory.learn import learn_from
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import EVERYTHING, load
from milepost.engine.records.gates import LandedWork
from milepost.engine.records.held_work import HeldWork
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.locate import find_run
from milepost.engine.records.milepost_note import recorded_note
from milepost.engine.records.run_request import Caller, OnEvent
from milepost.engine.records.run_spec import Candidate, Conflict, FinishedAttempt, RunSpec
from milepost.engine.records.unmerged_run import Ahead, run_ahead
from milepost.engine.run import summaries
from milepost.engine.run.merge import on_top_of
from milepost.engine.run.move_branch import Branch
from milepost.engine.run.start import recorded_order, within
from milepost.engine.run.wiring import open_rooms
from milepost.engine.services import RunServices
from milepost.store.kill_points import reached
from milepost.workspace.mileposts import milepost_message, run_branch
from milepost.workspace.repository import Position

Answer = Callable[[Evidence], Evidence]  # what a person's yes makes of evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """Where the work is to land: the user's position, or the tip of the run that is ahead of it."""

    services: RunServices
    order: RunSpec
    user: Position
    ahead: Ahead | None

    @property
    def head(self) -> str:
        return self.user.commit if self.ahead is None else self.ahead.tip

    @property
    def run(self) -> str:
        """Whose branch keeps the milepost until the user's branch is there."""
        return self.order.run if self.ahead is None else self.ahead.run


def land_held(project: Project, work: HeldWork, answer: Answer, on_event: OnEvent) -> LandedWork:
    """Make held work a milepost on the user's branch; raises where it conflicts, or fails on what landed since."""
    with project.lock() as lock:
        with Journal(project.store) as journal:
            order = recorded_order(_record(journal, work.run))
        settings = load(project.roadmap.parent, {"trust": order.trust or None}, uses=EVERYTHING)
        with open_rooms(project, within(order, settings), order, lock.fd, Caller(on_event=on_event)) as services:
            ground = _ground(services, order, work)
            commit, one, again = _milepost(ground, work, answer)
            reached(f"{work.task.id} committed")
            ahead = _keep(ground, commit)
            reached(f"{work.task.id} kept")
            branch, by_hand = _move(ground, commit, ahead)
            reached(f"{work.task.id} moved")
            _record_landing(ground, work, one, commit, branch, by_hand)
    words = verdict_words(one.attempt.evidence)
    return LandedWork(commit=commit, verdict=words, branch=branch, by_hand=by_hand, verified_again=again)


def _record(journal: Journal, run: str) -> RunRecord:
    found = find_run(journal, run)
    assert found is not None  # a name that is not known raises
    return found


def _ground(services: RunServices, order: RunSpec, work: HeldWork) -> _Ground:
    """Where to land; raises where the work, or what it stands on, is not there."""
    mileposts, task, attempt = services.mileposts, work.task.id, work.last.attempt
    if mileposts.resolve(attempt.commit) is None:
        raise LandingRefused(f"the work on {task} is not in this repository any more", f"milepost retry {task}")
    records, user = services.books.journal.runs(), services.project.repository.position()
    ahead = run_ahead(records, mileposts, user) or _cut_short(services, work, user)
    if ahead is not None:
        if ahead.unfinished:
            raise RunUnfinished(f"run {ahead.run} is not finished, and it is ahead of your branch", "milepost resume")
        if any(one.run == ahead.run and one.order.get("held") for one in records):
            raise LandingRefused(f"run {ahead.run} lands together with other projects", "milepost together --resume")
    ground = _Ground(services=services, order=order, user=user, ahead=ahead)
    own = mileposts.resolve(run_branch(order.run))
    apart = own is not None and not mileposts.is_ancestor(own, ground.head)
    if apart or not mileposts.is_ancestor(attempt.base, ground.head):
        raise LandingRefused(
            f"{task} stands on mileposts of run {order.run} that are not in your branch",
            f"git merge milepost/{order.run}   then again",
        )
    return ground


def _cut_short(services: RunServices, work: HeldWork, user: Position) -> Ahead | None:
    """The run's branch, where a landing of this very work was cut short before the user's branch was moved."""
    mileposts, tip = services.mileposts, services.mileposts.resolve(run_branch(work.run))
    if tip is None or tip == user.commit or user.commit not in mileposts.parents_of(tip):
        return None
    posts = mileposts.history(tip, since=user.commit)
    ours = [post for post in posts if (post.task, post.run) == (work.task.id, work.run)]
    return Ahead(run=work.run, tip=tip, unfinished=False) if ours else None


def _milepost(ground: _Ground, work: HeldWork, answer: Answer) -> tuple[str, FinishedAttempt, bool]:
    """The commit, the attempt with the evidence that it carries, and whether the checks were run again for it."""
    services, order, task, last = ground.services, ground.order, work.task, work.last
    posts = services.mileposts.history(ground.head, since=order.base)
    if (post := next((one for one in posts if (one.task, one.run) == (task.id, order.run)), None)) is not None:
        evidence = recorded_note(services.mileposts, post).evidence
        return post.commit, _with(last, evidence, ground.head), False
    there = on_top_of(services, order, task, last.attempt, ground.head)
    if isinstance(there, Conflict):
        raise LandingRefused(
            f"{task.id} conflicts with what landed since, in {', '.join(there.paths)}",
            f"milepost retry {task.id} does it again on top of that",
        )
    evidence, again = last.attempt.evidence, there.tree != last.attempt.evidence.tree
    if again:
        evidence = _verified_again(ground, work, there.tree)
    one = _with(last, answer(evidence), ground.head)
    return _commit(ground, work, one), one, again


def _with(last: FinishedAttempt, evidence: Evidence, on: str) -> FinishedAttempt:
    attempt: Attempt = replace(last.attempt, evidence=evidence)
    return replace(last, attempt=attempt, proven_on=on)


def _verified_again(ground: _Ground, work: HeldWork, tree: str) -> Evidence:
    """What the checks say of the work on top of what landed since; raises where it fails there."""
    services, order, task, last = ground.services, ground.order, work.task, work.last
    candidate = Candidate(
        attempt=last.attempt.number,
        agent=last.attempt.agent,
        base=ground.head,
        tree=tree,
        changed=last.changed,
        corrections=last.corrections,
    )

    def ignore(_: CheckResult) -> None:
        pass

    evidence = services.examiner.examine(task, candidate, order.roadmap, f"{order.run}-{task.id}-land", ignore)
    if evidence.verdict is Verdict.FAILED:
        raise LandingRefused(
            f"{task.id} fails on top of what landed since: {evidence.reason}",
            f"nothing was changed; milepost retry {task.id} does it again on top of that",
        )
    return evidence


def _commit(ground: _Ground, work: HeldWork, one: FinishedAttempt) -> str:
    services, order, task, attempt = ground.services, ground.order, work.task, one.attempt
    note = record.note_for(order.run, task.id, one)
    message = milepost_message(
        task=task.id,
        title=task.title,
        run=order.run,
        attempt=attempt.number,
        agent=attempt.agent,
        roadmap=order.roadmap,
        evidence=note,
        members=task.members,
        verdict=verdict_words(attempt.evidence),
    )
    stamp = order.stamp(one.finished_at)
    commit = services.mileposts.commit(attempt.evidence.tree, ground.head, message, stamp)
    services.mileposts.annotate(commit, note, stamp)
    return commit


def _keep(ground: _Ground, commit: str) -> str:
    """Keep the milepost on the branch of its run, or of the one that is ahead; gives that branch's name."""
    ref = run_branch(ground.run)
    mileposts = ground.services.mileposts
    tip = mileposts.resolve(ref)
    if ground.services.project.repository.stands_on(ref) or (tip is not None and mileposts.is_ancestor(commit, tip)):
        return f"milepost/{ground.run}"
    if tip is None:
        mileposts.keep(ref, commit)
    else:
        mileposts.move(ref, commit, tip)
    return f"milepost/{ground.run}"


def _move(ground: _Ground, commit: str, head_name: str) -> tuple[str, str]:
    """Move the user's branch; gives its name, or the command that moves it where something is in the way."""
    project, fds = ground.services.project, (ground.services.lock_fd,)
    branch = Branch(
        project=project,
        git=project.repository.git(project.state / "git", fds),
        name=ground.user.branch,
        head=commit,
        head_name=head_name,
        held_fds=fds,
    )
    obstacle = branch.move()
    return (ground.user.branch or "HEAD", "") if obstacle is None else ("", obstacle.command)


def _record_landing(
    ground: _Ground, work: HeldWork, one: FinishedAttempt, commit: str, branch: str, by_hand: str
) -> None:
    """Write the landing down where a run writes its own; harmless when repeated."""
    services, order, task, evidence = ground.services, ground.order, work.task, one.attempt.evidence
    record.corrected(services, order, task, work.last, evidence, ground.head)
    record.commit_patch(services, order.run, task.id, one.attempt.number, commit)
    tries = (*work.tries[:-1], one)
    if evidence.verdict is Verdict.PASSED:
        services.books.failures.ended(order.run, task.id, one.attempt.agent, at=one.finished_at)
        learn_from(services, order, task, tries)
    number, tree = one.attempt.number, evidence.tree
    made = MilepostMade(run=order.run, task=task.id, attempt=number, commit=commit, tree=tree)
    services.emit(made, f"{task.id}/milepost")
    end = summaries.summary(task, tries, evidence.verdict, commit, end_reason(evidence))
    finished = summaries.task_finished(order, end, tries, one.attempt.agent)
    services.emit(finished, f"{task.id}/landed/{commit[:12]}")
    known = _record(services.books.journal, order.run).summary
    if known is not None:
        services.books.journal.close_run(order.run, _with_end(known, work, end, branch, by_hand))


def _with_end(known: RunFinished, work: HeldWork, end: TaskSummary, branch: str, by_hand: str) -> RunFinished:
    """The end of a run in which a task, and all that is done with it, has its milepost by now."""
    titles = {one.id: one.title for one in known.tasks}
    ends = {one.id: one for one in summaries.with_members(end, work.task, titles)}
    tasks = tuple(ends.get(one.id, one) for one in known.tasks)
    return replace(known, tasks=tasks, fast_forwarded=branch or "", by_hand=by_hand)
