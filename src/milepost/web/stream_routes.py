"""The routes that read the stream of events: the runs, one run as it goes on, its older lines, how it stands."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

import milepost
from milepost.serving.threads import aside
from milepost.web.page_facts import PageFacts, glance_json, run_named
from milepost.web.poll import Tail
from milepost.web.replies import answered
from milepost.web.server_sent_events import LINES, place_named, rows_json, told
from milepost.web.summary import Summaries

_LARGEST: Final = 2**62


def routes(site: PageFacts) -> list[BaseRoute]:
    """`/api/runs`, `/api/stream`, `/api/lines` and `/api/summary`."""
    tail, summaries = Tail(site.stream), Summaries(site)

    async def runs(_: Request) -> Response:
        glances = await aside(site.stream.runs)
        return JSONResponse({"runs": [glance_json(glance) for glance in glances], "now": time.time()})

    async def stream(request: Request) -> Response:
        run = await aside(partial(run_named, site, request.query_params.get("run", "")))
        since = place_named(request.headers.get("last-event-id") or request.query_params.get("after", ""))
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(told(site, tail, run, since), media_type="text/event-stream", headers=headers)

    async def lines(request: Request) -> Response:
        run = await aside(partial(run_named, site, request.query_params.get("run", "")))
        text = await aside(partial(_lines, site, run, _place(request)))
        return Response(text, media_type="application/json")

    async def summary(request: Request) -> Response:
        run = await aside(partial(run_named, site, request.query_params.get("run", "")))
        return JSONResponse(await aside(partial(summaries.of, run)))

    asked = {"/api/runs": runs, "/api/stream": stream, "/api/lines": lines, "/api/summary": summary}
    return [Route(path, answered(site.roadmap, answer), methods=["GET"]) for path, answer in asked.items()]


def _lines(site: PageFacts, run: str, before: int) -> str:
    """What commands printed before a place, and whether there is more before that."""
    rows = site.stream.printed_before(run, before, LINES) if run else ()
    older = bool(rows) and bool(site.stream.printed_before(run, rows[0].seq, 1))
    return f'{{"events":{rows_json(rows)},"older":{json.dumps(older)}}}'


def _place(request: Request) -> int:
    text = request.query_params.get("before", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text) < _LARGEST):
        raise milepost.Misuse(f"{text[:40]!r} is not a place in the stream", "give the number of an event")
    return int(text)
