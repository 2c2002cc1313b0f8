"""The parent of a run: what starts, what waits, what is over.

All that it decides depends on recorded results alone, so that a killed run decides the same again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, assert_never

from milepost.core.events import ForecastMade, RunFinished, Steered
from milepost.core.task import Plan, Task
from milepost.core.verdict import Evidence, Verdict
from milepost.engine.planning.make_plan import planned
from milepost.engine.records.gates import Gate
from milepost.engine.records.held_work import HeldWork
from milepost.engine.records.run_spec import BranchMove, FinishedAttempt, RunSpec
from milepost.engine.records.steering import Request, requests_from
from milepost.engine.records.values_json import dump, load
from milepost.engine.routing.candidates import is_routed
from milepost.engine.routing.choose import Choice
from milepost.engine.run import choose_agent, durable, steps, summaries
from milepost.engine.run.gate_desk import GateDesk
from milepost.engine.run.goals import Course, turned
from milepost.engine.run.merger import Merger
from milepost.engine.run.next_step import Hold, Land, Leave, OneByOne, Repair, Split, WaitForTask, decide
from milepost.engine.run.run_state import DROPPED, Flows, RunState
from milepost.engine.services import RunServices
from milepost.plan.graph.regroup import dissolved
from milepost.plan.graph.reshape import claiming, waiting_for, with_parts
from milepost.plan.graph.schedule import ready
from milepost.plan.repository_facts import RepositoryFacts

Plain = dict[str, Any]


class Scheduler:
    """One run, from its first task to its last."""

    def __init__(self, services: RunServices, order: RunSpec, surveyed: Plain, flows: Flows) -> None:
        plan = load(Plan, surveyed["plan"])
        alone = load(Plan, surveyed["alone"]) if surveyed.get("alone") else plan
        course = Course(wanted=order.tasks, parallel=order.parallel, seen=alone)
        self._services, self._order = services, order
        self._state = RunState(services, order, flows, plan, course)
        self._merger = Merger(self._state, self._decide_next)
        self._gates = GateDesk(self._state, self._merger.queue, self._decide_next)
        self._facts = load(RepositoryFacts, surveyed["ground"])
        self._observed = {name: tuple(files) for name, files in surveyed["observed"].items()}
        self._forecast = load(ForecastMade, surveyed["forecast"]) if surveyed["forecast"] else None
        self._at_work: dict[str, Task] = {}
        self._last_in_turn = ""

    @property
    def head(self) -> str:
        """The tip of the run's branch."""
        return self._merger.queue.head

    def run_all(self) -> None:
        """Start what is ready, take in what is new, merge what is proven, until nothing is left."""
        self._services.emit(summaries.started(self._order), "started")
        if self._forecast is not None:
            self._services.emit(self._forecast, "forecast")
        if (told := choose_agent.left_out(self._order)) is not None:
            self._services.emit(told, "left out")
        if (waits := summaries.not_started(self._order)) is not None:
            self._services.emit(waits, "not started")
        self._start_ready()
        while True:
            self._work_off()
            answers = steps.held_answers(dump(self._order), sorted(self._gates.held)) if self._gates.held else []
            if not answers:
                break
            for answer in answers:
                self._gates.take_held(answer["held"], answer)
            self._go_on()
        for gate, proposal in self._gates.held.values():
            evidence = self._state.histories[gate.task][-1].attempt.evidence
            self._state.end(self._state.plan.task(gate.task), evidence.verdict, None, evidence.reason, proposal)
        for task_id, waits_for in self._state.waiting().items():
            verdict = Verdict.FAILED if task_id in self._state.histories else None
            self._state.end(self._state.plan.task(task_id), verdict, None, f"waits for {waits_for}")

    def _work_off(self) -> None:
        """Take in what is new until nothing is under way but questions that outlive the run."""
        while (under_way := self._under_way()) or self._state.course.paused:
            leaving = self._state.course.finishing and not under_way
            held = sorted(self._gates.held)
            self._take_in(durable.news(under_way, self._state.course.heard, held, leaving=leaving))
            self._go_on()

    def _go_on(self) -> None:
        """Merge what is proven, and start what is ready."""
        self._merger.advance()
        self._start_ready()
        while not self._under_way() and not self._state.course.paused and self._merger.queue.waiting:
            self._merger.advance(in_order=False)  # those before wait for these
            self._start_ready()

    def report(self, arrival: BranchMove) -> RunFinished:
        """The end of the run, written down and told."""
        plan, ended = self._state.plan, self._state.ended
        titles = {task.id: task.title for task in plan.tasks}
        ends = tuple(
            end
            for task_id in self._state.course.wanted
            for end in summaries.with_members(ended[task_id], plan.task(task_id), titles)
        )
        tries = [one for history in self._state.histories.values() for one in history]
        finished = summaries.run_finished(self._order, ends, tries, arrival.head or self.head, arrival)
        self._services.emit(finished, "finished")
        self._services.books.journal.close_run(self._order.run, finished)
        return finished

    def _under_way(self) -> list[str]:
        return sorted((*self._at_work, *self._merger.queue.proving, *self._gates.asking))

    def _start_ready(self) -> None:
        """Go on with what was begun, then begin what is ready, as far as there is room."""
        while not self._state.course.paused:
            for task_id in self._to_go_on_with():
                self._start(self._state.plan.task(task_id), self._state.pending.pop(task_id))
            asking = len(self._gates.asking)
            self._begin_ready()
            if len(self._gates.asking) == asking:  # one that waits for a person claims no file any more
                return

    def _to_go_on_with(self) -> list[str]:
        """What was begun and may go on; of those that conflicted on a file, one at a time: the next would again."""
        pending = self._state.pending
        if not pending:
            return []
        claimed = claiming(self._state.plan, self._observed)
        at_it = {path for task in self._at_work.values() for path in claimed.task(task.id).files}
        at_it |= {path for task_id in self._merger.queue.tasks for path in claimed.task(task_id).files}
        found: list[str] = []
        for task_id in pending:
            files = set(self._merger.contested.get(task_id, ()))
            if len(found) < self._room() and files.isdisjoint(at_it):
                found.append(task_id)
                at_it |= set(claimed.task(task_id).files)
        return found or list(pending)[:1] if not self._under_way() else found

    def _room(self) -> int:
        return max(0, self._state.course.parallel - len(self._at_work))

    def _begin_ready(self) -> None:
        state, asking = self._state, self._gates.asking.values()
        asked = {gate.task for gate in asking if gate.kind == "before"}
        busy = {task.id for task in self._at_work.values()} | {gate.task for gate in asking} - asked
        busy |= set(state.pending)
        unwanted = {task.id for task in state.plan.tasks} - set(state.course.wanted) | state.set_aside
        for task in ready(
            claiming(state.plan, self._observed),
            done=state.landed,
            busy=frozenset(busy | set(self._merger.queue.tasks)),
            ended=frozenset(state.ended) | state.elsewhere.keys() | self._gates.held_tasks,
            unwanted=frozenset(unwanted),
            asked=frozenset(asked),
        ):
            own = state.plan.task(task.id)
            may_begin = task.id in state.histories or self._gates.allows(own, "before", 0)
            if may_begin and self._room():
                self._start(own, "")

    def _start(self, task: Task, hand: str) -> None:
        """Start a task, or go on with it, from where the branch is now."""
        if not hand:
            self._choose_for(task)
        workflow_id = self._state.next_id(task.id, "work")
        history = [dump(one) for one in self._state.histories.get(task.id, ())]
        situation = dump(replace(self._state.situation(task), hand=hand))
        order = dump(self._order)
        durable.start(workflow_id, self._state.flows.work, order, dump(task), self.head, history, situation)
        self._at_work[workflow_id] = task

    def _choose_for(self, task: Task) -> None:
        """Have somebody chosen for a task that names nobody, once; the choice is recorded, so it stays."""
        state, order = self._state, self._order
        known = state.situation(task)
        if known.routed or task.id in state.histories:
            return
        if order.routing is None or not is_routed(task, order.agent):
            return
        routed = {name: seen.routed for name, seen in state.situations.items() if seen.routed}
        at_work = {name: agent for name, agent in routed.items() if name not in state.ended}
        choice = load(Choice, choose_agent.route(dump(order), dump(task), self._last_in_turn, at_work))
        if choice.mode == "round-robin":
            self._last_in_turn = choice.agent
        state.situations[task.id] = replace(known, routed=choice.agent, fallback=choice.fallback)
        self._services.emit(choose_agent.chosen(order.run, task.id, choice), f"{task.id}/chosen")

    def _take_in(self, news: Plain) -> None:
        if "asked" in news:
            self._state.course = replace(self._state.course, heard=news["heard"])
            for place, request in enumerate(requests_from(news)):
                self._turn(request, place)
            return
        if "held" in news:
            self._gates.take_held(news["held"], news)
            return
        workflow_id, result = news["workflow_id"], news["result"]
        if workflow_id in self._at_work:
            self._take_work(self._at_work.pop(workflow_id), result)
        elif workflow_id in self._gates.asking:
            self._gates.take(workflow_id, result)
        else:
            self._merger.take_proof(workflow_id, load(Evidence, result))

    def _take_work(self, task: Task, result: Plain) -> None:
        tries = tuple(load(FinishedAttempt, plain) for plain in result["history"])
        if tries:
            self._state.histories[task.id] = tries
            self._observed[task.id] = tuple(dict.fromkeys(path for one in tries for path in one.changed))
        if result["gate"]:
            self._gates.wait_for(load(Gate, result["gate"]))
        else:
            self._decide_next(task)

    def _decide_next(self, task: Task) -> None:
        """What becomes of a task after its last attempt: merged, repaired, split, or left."""
        state = self._state
        tries = state.histories[task.id]
        match decide(tries, self._order, state.situation(task)):
            case Land():
                if self._gates.allows(task, "after", tries[-1].attempt.number):
                    self._merger.queue.wait(task.id)
            case Repair():
                state.requeue(task)
            case WaitForTask(until=other):
                known = state.situation(task)
                state.situations[task.id] = replace(known, waited_for=(*known.waited_for, other))
                state.plan = waiting_for(state.plan, task.id, other)
            case Split(parts=parts):
                state.situations[task.id] = replace(state.situation(task), decomposed=True)
                state.course = state.course.before(task.id, tuple(part.id for part in parts))
                state.plan = with_parts(state.plan, task.id, parts)
            case OneByOne():
                self._dissolve(task)
            case Hold(proposal=proposal):
                self._gates.hold(task, proposal)
            case Leave(reason=reason, proposal=proposal):
                if tries[-1].attempt.evidence.verdict is Verdict.UNVERIFIED and tries[-1].changed:
                    self._services.books.held.keep(HeldWork(run=self._order.run, task=task, tries=tries))
                state.end(task, tries[-1].attempt.evidence.verdict, None, reason, proposal)
            case _ as never:
                assert_never(never)

    def _dissolve(self, leader: Task) -> None:
        """Do each task of a group by itself, with attempts of its own; who is off the roadmap by now is over."""
        state = self._state
        tries, there = (
            state.histories[leader.id],
            {task.id for task in state.course.seen.tasks if task.status == "open"},
        )
        state.situations[leader.id] = replace(state.situation(leader), together=len(tries))
        apart = dissolved(state.plan, state.course.seen, leader.id)
        state.course, state.plan = state.course.parted(state.plan, apart), apart
        for name in (name for name in leader.ids if name not in there):
            verdict = tries[-1].attempt.evidence.verdict if name == leader.id else None
            state.end(state.plan.task(name), verdict, None, "off the roadmap, or ticked there")

    def _turn(self, request: Request, place: int) -> None:
        """Do what a person asked of the run, and say what that changes; `place` is among what was heard with it."""
        state, order = self._state, self._order
        over = {name for name, end in state.ended.items() if end.reason != DROPPED}
        begun = {task.id for task in self._at_work.values()} | set(state.histories) | set(state.pending) | over
        all_tasks = not order.wished and order.max_tasks is None
        turn = turned(
            state.course, state.plan, request, begun=frozenset(begun), all_tasks=all_tasks, planned=self._planned
        )
        state.course, state.plan = turn.course, turn.plan
        if turn.roadmap:
            adopted = steps.adopt(dump(order), self.head, turn.roadmap)
            if adopted != self.head:
                self._merger.queue.restart(adopted)
        heard = f"{state.course.heard}.{place}" if place else f"{state.course.heard}"
        for number, (task, what) in enumerate(turn.said):
            said = Steered(run=order.run, task=task, what=self._services.redact(what))
            self._services.emit(said, f"steered/{heard}/{request.kind}/{number}")
        for name in turn.added:
            state.ended.pop(name, None)  # it was off the roadmap for a while
        for name in turn.dropped:
            self._services.books.gates.withdraw(order.run, name)
            if name not in state.ended:
                state.end(state.plan.task(name), None, None, DROPPED)

    def _planned(self, roadmap: str) -> Plan:
        planning = replace(self._order.planning, grouping="none")
        return planned(roadmap.encode(), self._order.manner, planning, ground=self._facts)
