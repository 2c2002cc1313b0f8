"""The run: plan → act → verify → repair or milepost → next, as one durable story.

`roadmap` is the parent: it alone decides what starts and what lands. `work` brings one task from
its first attempt to a verdict. `prove` verifies work again on top of what lands before it. `ask`
waits for a person. All that they decide depends on recorded results alone, so a killed run
decides the same again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from milepost.engine.attempt import record
from milepost.engine.records.run_spec import PARTS, BranchMove, Candidate, FinishedAttempt, RunSpec
from milepost.engine.records.values_json import dump, load
from milepost.engine.run import steps
from milepost.engine.run.durable import workflow
from milepost.engine.run.next_step import Repair, TaskSituation, decide, first_way
from milepost.engine.run.run_state import Flows
from milepost.engine.run.scheduler import Scheduler
from milepost.engine.services import RunServices

Plain = dict[str, Any]
MOST_RECIPES = 5  # after one attempt of an agent; each is another one, or has something else to mend


@workflow
def roadmap(services: RunServices, order: Plain) -> Plain:
    """The whole run: every task that was asked for, until each has its milepost or its reason."""
    scheduler = Scheduler(services, load(RunSpec, order), steps.survey(order), Flows(work=work, prove=prove, ask=ask))
    scheduler.run_all()
    arrival = load(BranchMove, steps.arrive(order, scheduler.head))
    return dump(scheduler.report(arrival))


@workflow
def work(services: RunServices, order: Plain, task: Plain, base: str, history: list[Plain], outlook: Plain) -> Plain:
    """One task from one base: attempts until one is proven, or no further one from this base is worth it.

    An attempt that must wait for a person leaves with the question; it goes on with its recorded calls.
    """
    asked, seen = load(RunSpec, order), load(TaskSituation, outlook)
    way = first_way(tuple(load(FinishedAttempt, plain) for plain in history), asked, seen)
    if asked.checks.get("tester") and not history:
        steps.write_tests(order, task, base, way.agent)
    waited_s = 0.0  # in this life of the run: what parked it once does not park it again before it has asked
    while True:
        waited_s = steps.wait_before(services, order, task, history, way.wait_s, waited_s)
        stage = steps.gather if way.agent == PARTS else steps.act
        acted = stage(order, task, base, history, dump(way))
        while "limited" in acted:
            waited_s = steps.wait_for_service(services, acted, waited_s)
            way = replace(way, rounds=way.rounds + 1)
            acted = stage(order, task, base, history, dump(way))
        if "gate" in acted:
            return {"history": history, "gate": acted["gate"]}
        evidence = steps.verify(order, task, acted["candidate"])
        history = [*history, record.record(services, order, task, acted, evidence)]
        told: list[str] = []
        for _ in range(MOST_RECIPES):
            mended = steps.mend(order, task, history)
            told += mended.get("told", [])
            if "acted" not in mended:
                break
            evidence = steps.verify(order, task, mended["acted"]["candidate"])
            history = [*history, record.record(services, order, task, mended["acted"], evidence)]
        onward = decide(tuple(load(FinishedAttempt, plain) for plain in history), asked, seen)
        if not isinstance(onward, Repair):
            return {"history": history, "gate": None}
        way = replace(onward.way, advice=(*told, *onward.way.advice))


@workflow
def prove(services: RunServices, order: Plain, task: Plain, last: Plain, on: str, tree: str) -> Plain:
    """The evidence for a task's work on top of what lands before it."""
    one = load(FinishedAttempt, last)
    attempt = one.attempt
    candidate = Candidate(
        attempt=attempt.number,
        agent=attempt.agent,
        base=on,
        tree=tree,
        changed=services.mileposts.changed_files(attempt.base, attempt.commit),
        corrections=one.corrections,
    )
    return steps.verify(order, task, dump(candidate))


@workflow
def ask(services: RunServices, order: Plain, gate: Plain) -> Plain:
    """A person's answer; nothing is held while they think."""
    return steps.answered(order, gate)
