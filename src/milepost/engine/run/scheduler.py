"""The parent of a run: who is at work, who is asked, what is on its way to the branch, what is over.

All that it decides depends on recorded results alone, so that a killed run decides the same again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, assert_never

from milepost.core.events import ForecastMade, RunFinished, Steered, TaskSummary
from milepost.core.task import Plan, Task
from milepost.core.verdict import Evidence, Verdict
from milepost.engine.attempt import record
from milepost.engine.planning.make_plan import planned
from milepost.engine.records.gates import Gate
from milepost.engine.records.run_spec import Arrival, Order, Try
from milepost.engine.records.steering import Request, requests_from
from milepost.engine.records.values_json import dump, load
from milepost.engine.routing.candidates import is_routed
from milepost.engine.routing.choose import Choice
from milepost.engine.run import choose_agent, durable, scheduler_gates, scheduler_merge, steps, summaries
from milepost.engine.run.goals import Course, turned
from milepost.engine.run.merge_track import Track
from milepost.engine.run.next_step import Land, Leave, OneByOne, Outlook, Repair, Split, Wait, decide, named
from milepost.engine.services import Rooms
from milepost.plan.graph.regroup import dissolved
from milepost.plan.graph.reshape import claiming, waiting_for, with_parts
from milepost.plan.graph.schedule import blocked, ready
from milepost.plan.projects.cross_project_waits import waiting_elsewhere
from milepost.plan.repository_facts import Ground

Plain = dict[str, Any]
DROPPED = "dropped while the run was on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """The workflows that a parent starts: attempts at a task, a proof on top of others, a question to a person."""

    work: Callable[..., Any]
    prove: Callable[..., Any]
    ask: Callable[..., Any]


class Journey:
    """One run on its way, from its first task to its last."""

    def __init__(self, here: Rooms, order: Order, surveyed: Plain, flows: Flows) -> None:
        self.here, self.order, self.flows = here, order, flows
        self.plan = load(Plan, surveyed["plan"])
        self.ground = load(Ground, surveyed["ground"])
        self.observed = {name: tuple(files) for name, files in surveyed["observed"].items()}
        self.forecast = load(ForecastMade, surveyed["forecast"]) if surveyed["forecast"] else None
        self.track = Track(order.base)
        alone = load(Plan, surveyed["alone"]) if surveyed.get("alone") else self.plan
        self.course = Course(wanted=order.tasks, parallel=order.parallel, seen=alone)
        self.histories: dict[str, tuple[Try, ...]] = {}
        self.starts: dict[str, int] = {}
        self.outlooks: dict[str, Outlook] = {}
        self.at_work: dict[str, Task] = {}
        self.pending: dict[str, str] = {}
        self.contested: dict[str, tuple[str, ...]] = {}
        self.asking: dict[str, Gate] = {}
        self.allowed: set[tuple[str, int]] = set()
        self.ended: dict[str, TaskSummary] = {}
        self.doubts: dict[str, Evidence] = {}
        self.last_in_turn = ""

    def travel(self) -> None:
        """Start what is ready, take in what is new, land what is proven, until nothing is left."""
        self.here.emit(summaries.started(self.order), "started")
        if self.forecast is not None:
            self.here.emit(self.forecast, "forecast")
        if (told := choose_agent.left_out(self.order)) is not None:
            self.here.emit(told, "left out")
        self._start_ready()
        while (under_way := self._under_way()) or self.course.paused:
            leaving = self.course.finishing and not under_way
            self._take_in(durable.news(under_way, self.course.heard, leaving=leaving))
            scheduler_merge.advance(self)
            self._start_ready()
            while not self._under_way() and not self.course.paused and self.track.waiting:
                scheduler_merge.advance(self, in_order=False)  # those before wait for these
                self._start_ready()
        for task_id, waits_for in self.waiting().items():
            verdict = Verdict.FAILED if task_id in self.histories else None
            self.end(self.plan.task(task_id), verdict, None, f"waits for {waits_for}")

    def report(self, arrival: Arrival) -> RunFinished:
        """The end of the run, written down and told."""
        titles = {task.id: task.title for task in self.plan.tasks}
        ends = tuple(
            end
            for task_id in self.course.wanted
            for end in summaries.with_members(self.ended[task_id], self.plan.task(task_id), titles)
        )
        tries = [one for history in self.histories.values() for one in history]
        finished = summaries.run_finished(self.order, ends, tries, arrival.head or self.track.head, arrival)
        self.here.emit(finished, "finished")
        self.here.books.journal.close_run(self.order.run, finished)
        return finished

    def _under_way(self) -> list[str]:
        return sorted((*self.at_work, *self.track.train.proving, *self.asking))

    def _start_ready(self) -> None:
        """Go on with what was begun, then begin what is ready, as far as there is room."""
        while not self.course.paused:
            for task_id in self._to_go_on_with():
                self._start(self.plan.task(task_id), self.pending.pop(task_id))
            asking = len(self.asking)
            self._begin_ready()
            if len(self.asking) == asking:  # one that waits for a person claims no file any more
                return

    def _to_go_on_with(self) -> list[str]:
        """What was begun and may go on; of those that conflicted on a file, one at a time: the next would again."""
        if not self.pending:
            return []
        claimed = claiming(self.plan, self.observed)
        at_it = {path for task in self.at_work.values() for path in claimed.task(task.id).files}
        at_it |= {path for task_id in self.track.tasks for path in claimed.task(task_id).files}
        found: list[str] = []
        for task_id in self.pending:
            files = set(self.contested.get(task_id, ()))
            if len(found) < self._room() and files.isdisjoint(at_it):
                found.append(task_id)
                at_it |= set(claimed.task(task_id).files)
        return found or list(self.pending)[:1] if not self._under_way() else found

    def _room(self) -> int:
        return max(0, self.course.parallel - len(self.at_work))

    def _begin_ready(self) -> None:
        asked = {gate.task for gate in self.asking.values() if gate.kind == "before"}
        busy = {task.id for task in self.at_work.values()} | {gate.task for gate in self.asking.values()} - asked
        busy |= set(self.pending)
        passed = frozenset(task_id for task_id, end in self.ended.items() if end.verdict is Verdict.PASSED)
        unwanted = {task.id for task in self.plan.tasks} - set(self.course.wanted) | self._set_aside()
        for task in ready(
            claiming(self.plan, self.observed),
            done=passed,
            busy=frozenset(busy | set(self.track.tasks)),
            ended=frozenset(self.ended) | self._elsewhere().keys(),
            unwanted=frozenset(unwanted),
            asked=frozenset(asked),
        ):
            own = self.plan.task(task.id)
            if self._may_begin(own) and self._room():
                self._start(own, "")

    def _may_begin(self, task: Task) -> bool:
        """Whether nobody must be asked before; whoever must is asked."""
        if (task.id, 0) in self.allowed or task.id in self.histories:
            return True
        return not scheduler_gates.ask(self, task, "before", 0)

    def work_on(self, task: Task, hand: str = "") -> None:
        """Go on with a task as soon as there is room; `hand` is the agent that a person handed it to."""
        self.pending[task.id] = hand

    def _start(self, task: Task, hand: str) -> None:
        """Start a task, or go on with it, from where the branch is now."""
        if not hand:
            self._choose_for(task)
        workflow_id = self.next_id(task.id, "work")
        history = [dump(one) for one in self.histories.get(task.id, ())]
        outlook = dump(replace(self._outlook(task), hand=hand))
        durable.start(workflow_id, self.flows.work, dump(self.order), dump(task), self.track.head, history, outlook)
        self.at_work[workflow_id] = task

    def _choose_for(self, task: Task) -> None:
        """Have somebody chosen for a task that names nobody, once; the choice is recorded, so it stays."""
        known = self._outlook(task)
        if known.routed or task.id in self.histories:
            return
        if self.order.routing is None or not is_routed(task, self.order.agent):
            return
        routed = {name: seen.routed for name, seen in self.outlooks.items() if seen.routed}
        at_work = {name: agent for name, agent in routed.items() if name not in self.ended}
        choice = load(Choice, choose_agent.route(dump(self.order), dump(task), self.last_in_turn, at_work))
        if choice.mode == "round-robin":
            self.last_in_turn = choice.agent
        self.outlooks[task.id] = replace(known, routed=choice.agent, fallback=choice.fallback)
        self.here.emit(choose_agent.chosen(self.order.run, task.id, choice), f"{task.id}/chosen")

    def _outlook(self, task: Task) -> Outlook:
        """What is to be known of the run when it is decided how a task goes on."""
        known = self.outlooks.get(task.id, Outlook(task=task))
        open_still = [name for name in self.course.wanted if name != task.id and name not in self.ended]
        return replace(known, task=task, others=tuple(self.plan.task(name) for name in open_still))

    def next_id(self, task: str, kind: str) -> str:
        self.starts[task] = self.starts.get(task, 0) + 1
        return f"{self.order.run}/{task}/{kind}/{self.starts[task]}"

    def _take_in(self, news: Plain) -> None:
        if "asked" in news:
            self.course = replace(self.course, heard=news["heard"])
            for place, request in enumerate(requests_from(news)):
                self._turn(request, place)
            return
        workflow_id, result = news["workflow_id"], news["result"]
        if workflow_id in self.at_work:
            self._take_work(self.at_work.pop(workflow_id), result)
        elif workflow_id in self.asking:
            scheduler_gates.take(self, self.asking.pop(workflow_id), result)
        else:
            self._take_proof(self.track.train.proving[workflow_id], load(Evidence, result))

    def _take_work(self, task: Task, result: Plain) -> None:
        tries = tuple(load(Try, plain) for plain in result["history"])
        if tries:
            self.histories[task.id] = tries
            self.observed[task.id] = tuple(dict.fromkeys(path for one in tries for path in one.changed))
        if result["gate"]:
            scheduler_gates.wait_for(self, load(Gate, result["gate"]))
        else:
            self.go_on(task)

    def _take_proof(self, task_id: str, evidence: Evidence) -> None:
        car = next(car for car in self.track.train.cars if car.task == task_id)
        if evidence.verdict is not Verdict.PASSED and self.track.train.cars[0].task != task_id:
            self.doubts[task_id] = evidence
            self.track.train = self.track.train.doubted(task_id)
            return
        self.settle(task_id, evidence, car.on)

    def settle(self, task_id: str, evidence: Evidence, on: str) -> None:
        self.correct(task_id, evidence, on)
        if evidence.verdict is Verdict.PASSED:
            self.track.proven(task_id)
        else:
            self.track.leave(task_id)
            self.go_on(self.plan.task(task_id))

    def go_on(self, task: Task) -> None:
        tries = self.histories[task.id]
        match decide(tries, self.order, self._outlook(task)):
            case Land():
                number = tries[-1].attempt.number
                if (task.id, number) in self.allowed or not scheduler_gates.ask(self, task, "after", number):
                    self.track.join(task.id)
            case Repair():
                self.work_on(task)
            case Wait(until=other):
                known = self._outlook(task)
                self.outlooks[task.id] = replace(known, waited_for=(*known.waited_for, other))
                self.plan = waiting_for(self.plan, task.id, other)
            case Split(parts=parts):
                self.outlooks[task.id] = replace(self._outlook(task), decomposed=True)
                self.course = self.course.before(task.id, tuple(part.id for part in parts))
                self.plan = with_parts(self.plan, task.id, parts)
            case OneByOne():
                self._dissolve(task)
            case Leave(reason=reason, proposal=proposal):
                self.end(task, tries[-1].attempt.evidence.verdict, None, reason, proposal)
            case _ as never:
                assert_never(never)

    def _dissolve(self, leader: Task) -> None:
        """Do each task of a group by itself, with attempts of its own; who is off the roadmap by now is over."""
        tries, there = self.histories[leader.id], {task.id for task in self.course.seen.tasks if task.status == "open"}
        self.outlooks[leader.id] = replace(self._outlook(leader), together=len(tries))
        apart = dissolved(self.plan, self.course.seen, leader.id)
        self.course, self.plan = self.course.parted(self.plan, apart), apart
        for name in (name for name in leader.ids if name not in there):
            verdict = tries[-1].attempt.evidence.verdict if name == leader.id else None
            self.end(self.plan.task(name), verdict, None, "off the roadmap, or ticked there")

    def _turn(self, request: Request, place: int) -> None:
        """Do what a person asked of the run, and say what that changes; `place` is among what was heard with it."""
        over = {name for name, end in self.ended.items() if end.reason != DROPPED}
        begun = {task.id for task in self.at_work.values()} | set(self.histories) | set(self.pending) | over
        all_tasks = not self.order.wished and self.order.max_tasks is None
        turn = turned(
            self.course, self.plan, request, begun=frozenset(begun), all_tasks=all_tasks, planned=self._planned
        )
        self.course, self.plan = turn.course, turn.plan
        if turn.roadmap:
            adopted = steps.adopt(dump(self.order), self.track.head, turn.roadmap)
            if adopted != self.track.head:
                self.track.head = adopted
                self.track.uncouple()
        heard = f"{self.course.heard}.{place}" if place else f"{self.course.heard}"
        for number, (task, what) in enumerate(turn.said):
            said = Steered(run=self.order.run, task=task, what=self.here.redact(what))
            self.here.emit(said, f"steered/{heard}/{request.kind}/{number}")
        for name in turn.added:
            self.ended.pop(name, None)  # it was off the roadmap for a while
        for name in turn.dropped:
            self.here.books.gates.withdraw(self.order.run, name)
            if name not in self.ended:
                self.end(self.plan.task(name), None, None, DROPPED)

    def _planned(self, roadmap: str) -> Plan:
        planning = replace(self.order.planning, grouping="none")
        return planned(roadmap.encode(), self.order.manner, planning, ground=self.ground)

    def correct(self, task_id: str, evidence: Evidence, on: str) -> None:
        """Put newer evidence in the place of the last attempt's."""
        *earlier, last = self.histories[task_id]
        corrected = record.corrected(self.here, self.order.run, task_id, last, evidence, on)
        self.histories[task_id] = (*earlier, corrected)

    def end(self, task: Task, verdict: Verdict | None, commit: str | None, reason: str, proposal: str = "") -> None:
        tries = self.histories.get(task.id, ())
        self.ended[task.id] = end = summaries.summary(task, tries, verdict, commit, reason, proposal)
        if verdict is Verdict.PASSED:
            agent = tries[-1].attempt.agent
            self.here.books.failures.ended(self.order.run, task.id, agent, at=tries[-1].finished_at)
        if verdict is not None and tries and self.order.memory.writes:
            steps.learn(dump(self.order), dump(task), [dump(one) for one in tries])
        finished = summaries.task_finished(self.order, end, tries, named(self.order, self._outlook(task)))
        self.here.emit(
            finished, f"{task.id}/finished" if reason != DROPPED else f"{task.id}/dropped/{self.course.heard}"
        )

    def _set_aside(self) -> set[str]:
        """The tasks that a person said no to: what merely stands after them goes on."""
        return {task_id for task_id, end in self.ended.items() if end.verdict is None}

    def _elsewhere(self) -> dict[str, str]:
        """The tasks that wait for another project's, each with the first of those; what was done there is recorded."""
        return waiting_elsewhere(self.plan, self.order.met)

    def waiting(self) -> dict[str, str]:
        """The tasks that never started, and whom each waits for."""
        ticked = {task.id for task in self.plan.tasks if task.status == "done"}
        failed = {task_id for task_id, end in self.ended.items() if end.verdict is not Verdict.PASSED} - ticked
        unwanted = {task.id for task in self.plan.tasks if task.status == "open"} - set(self.course.wanted)
        unwanted, failed = unwanted | self._set_aside() & failed, failed - self._set_aside()
        elsewhere = self._elsewhere()
        waits = {**blocked(self.plan, frozenset(failed | elsewhere.keys()), frozenset(unwanted)), **elsewhere}
        return {task_id: waits.get(task_id, "") for task_id in self.course.wanted if task_id not in self.ended}
