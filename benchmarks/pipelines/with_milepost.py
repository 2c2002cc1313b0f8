"""The pipeline on the engine's durable layer, as a run uses it, and the calls that the engine records.

One workflow for the run starts one for each task, and records which of them ended. What is beside that in a run, git,
agent, sandbox and checks, is not here: `benchmarks/overhead.py` has all of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from pipeline import STEPS, Probe, asked, result_of, stored
from scratch import AGENT, Scratch, opened

from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Call, Reply, Usage
from milepost.core.ports import Tools
from milepost.engine.attempt.act import attempted
from milepost.engine.records.run_spec import VERSION, AttemptResult, AttemptSpec, NextAttempt
from milepost.engine.records.worker_lease import Worker
from milepost.engine.run import durable
from milepost.engine.services import RunServices
from milepost.engine.workers import dbos_queue
from milepost.plan.graph.build_graph import plan
from milepost.roadmap import read
from milepost.store.database import is_server

ANSWER = Usage(input_tokens=1_000, output_tokens=100, cost_usd=0.01)


@durable.step
def step(here: RunServices, task: int, name: str) -> dict[str, str | int]:
    return result_of(task, name)


@durable.workflow
def pipeline(here: RunServices, task: int) -> int:
    for name in STEPS:
        step(task, name)
    return task


@durable.workflow
def run(here: RunServices, run_id: str, what: str, place: str, number: int) -> dict[str, Any]:
    travel(run_id, -1)  # what is done once for each process is not a task's
    begun = time.perf_counter(), stored(place)
    for count in range(number):
        if what == "steps":
            step(count, "act")
        else:
            travel(run_id, count)
    return {"seconds": time.perf_counter() - begun[0], "grown": stored(place) - begun[1]}


def travel(run_id: str, task: int) -> None:
    """Start a task's workflow, and hear of its end."""
    workflow_id = f"{run_id}/{task}"
    durable.start(workflow_id, pipeline, task)
    ended = durable.news([workflow_id], 0, leaving=False)
    assert ended["workflow_id"] == workflow_id, ended


class Caller:
    """An agent that asks a model, or uses a tool that changes a file, and gets its answer at once."""

    def __init__(self, what: str, number: int) -> None:
        self._what, self._number = what, number
        self.place = ""
        self.seconds, self.grown = 0.0, 0

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        tools.logbook.once(self._call(-1), partial(self._answer, -1, workspace))
        started, before = time.perf_counter(), stored(self.place)
        for count in range(self._number):
            reply = tools.logbook.once(self._call(count), partial(self._answer, count, workspace))
            assert reply.body, reply
        self.seconds, self.grown = time.perf_counter() - started, stored(self.place) - before
        return Outcome(status="finished", said="done")

    def _call(self, count: int) -> Call:
        if self._what == "calls":
            return Call(kind="model", name="openai:gpt-5", request=f"question {count}", most=ANSWER)
        return Call(kind="tool", name="write_file", summary="write a file", request=f"write {count}", changes=True)

    def _answer(self, count: int, workspace: Workspace) -> Reply:
        if self._what == "calls":
            return Reply(body=result_of(count, "act"), usage=ANSWER)
        (workspace.folder / "made.txt").write_text(f"{count}\n")
        return Reply(body=result_of(count, "act"))


def main() -> None:
    what, place, number = asked()
    server = place if is_server(place) else ""
    caller = Caller(what, number)
    with opened(server, caller) as scratch:
        probe = Probe(scratch.place, number)
        if what in ("tasks", "steps"):
            with launched(scratch, server):
                run_id, here = scratch.order.run, scratch.here
                durable.start(run_id, run, run_id, what, scratch.place, number)
                took = durable.wait_for(run_id, here, lambda: None, lambda: None)
                here.parking.stop()
            probe.tell(took["seconds"], took["grown"])
        else:
            caller.place = scratch.place
            let_act(scratch)
            probe.tell(caller.seconds, caller.grown)


@contextmanager
def launched(scratch: Scratch, server: str) -> Iterator[None]:
    """DBOS for this run, as one machine has it, or as a worker has it."""
    here, run_id = scratch.here, scratch.order.run
    if not server:
        with durable.launched(here.project.database, run_id, here, lambda: None):
            yield
        return
    with dbos_queue.joined(server, Worker(name="bench", capacity=1, version=VERSION)):
        durable.open_place(run_id, durable.RunContext(services=here))
        yield
        durable.drain(here, lambda: None)


def let_act(scratch: Scratch) -> None:
    """One attempt, as a run makes it."""
    here, order = scratch.here, scratch.order
    task = plan(read(here.project.roadmap.read_bytes())).task("T1")
    effort = AttemptSpec(order=order, task=task, number=1, agent=AGENT)
    acted = attempted(here, effort, order.base, (), NextAttempt(agent=AGENT))
    assert isinstance(acted, AttemptResult) and acted.outcome.status == "finished", acted


if __name__ == "__main__":
    main()
