"""The routes that change something: an answer to a gate, a word to a run, other lines for a task."""

from __future__ import annotations

import time
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

import milepost
from milepost import gates, roadmaps, runs
from milepost.core.errors import GateClosed
from milepost.serving.threads import aside
from milepost.web.one_at_a_time import Turns
from milepost.web.page_facts import PageFacts, run_named
from milepost.web.replies import answered, reply, text_of
from milepost.web.request_bodies import GateAnswerBody, Steer, TaskEditBody, body_of
from milepost.web.steer_run import steered


def routes(site: PageFacts) -> list[BaseRoute]:
    """`POST /api/gates/{gate}`, `/api/steer` and `/api/task`."""
    turns = Turns()

    async def gate(request: Request) -> Response:
        body = await body_of(request, GateAnswerBody)
        name = f"{_run(site, request)}{request.path_params['gate']}"
        return reply(await aside(partial(_answer, site, turns, name, body)))

    async def steer(request: Request) -> Response:
        body = await body_of(request, Steer)
        run = request.query_params.get("run", "")
        said = await aside(partial(steered, site, turns, body, run))
        return reply(text_of({"ok": True, "said": said}))

    async def task(request: Request) -> Response:
        body = await body_of(request, TaskEditBody)
        return reply(await aside(partial(_edit, site, turns, body)))

    asked = {"/api/gates/{gate:path}": gate, "/api/steer": steer, "/api/task": task}
    return [Route(path, answered(site.roadmap, answer), methods=["POST"]) for path, answer in asked.items()]


def _run(site: PageFacts, request: Request) -> str:
    """The run that a gate is looked for in, as the beginning of its name; nothing where none is named."""
    named = request.query_params.get("run", "")
    return f"{run_named(site, named)}/" if named else ""


def _answer(site: PageFacts, turns: Turns, name: str, body: GateAnswerBody) -> str:
    """Give an answer, once: one that stands already is no answer to this question."""
    began = time.time()
    with turns.turn(f"gate {name}"):
        gate = milepost.answer_gate(
            name, body.answer, body.text, site.roadmap, digest=body.digest, by=_by(site), database=site.database or ""
        )
    if gate.answered_at is not None and gate.answered_at < began:
        raise GateClosed(f"{gate.gate} was answered already, with {gate.answer}", "an answer cannot be changed")
    goes_on = bool(site.database or runs.current(site.roadmap))
    return text_of(
        {"ok": True, "said": f"{_ANSWERED[body.answer]} {gate.gate}: {_after(gate, goes_on)}", "running": goes_on}
    )


_ANSWERED = {
    "approve": "approved", "reject": "rejected", "edit": "edited", "skip": "skipped", "delegate": "handed over",
    "accept": "accepted, not verified:",
}  # fmt: skip


def _by(site: PageFacts) -> str:
    """Who answers: whom git names where the page is served."""
    return f"{gates.person(site.roadmap)} on the page"


def _after(gate: gates.Gate, goes_on: bool) -> str:
    """What becomes of an answer: here and now where the run of held work is over."""
    if gate.landed is not None:
        moved = f"{gate.landed.branch} is at {gate.landed.commit[:7]}" if gate.landed.branch else gate.landed.by_hand
        again = ", checked again on top of what landed since" if gate.landed.verified_again else ""
        return f"milepost {gate.landed.commit[:7]}{again}; {moved}"
    if gate.over:
        return f"the work stays on its ref; retry {gate.task} to have it done again"
    return "the run continues" if goes_on else "nothing runs now: continue with resume"


def _edit(site: PageFacts, turns: Turns, body: TaskEditBody) -> str:
    with turns.turn("roadmap"):
        told = roadmaps.edit_task(
            body.task, body.text, site.roadmap, digest=body.digest, commit=body.commit, database=site.database
        )
    said = f"{told.task} is rewritten in the roadmap" + (f", in commit {told.commit[:7]}" if told.commit else "")
    return text_of(
        {"ok": True, "said": said, "task": told.task, "text": told.text, "digest": told.digest, "line": told.line}
    )
