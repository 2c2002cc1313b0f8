"""The routes that only look: the plan, an attempt with its diff, files, logs, a task's lines, what it cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

import milepost
from milepost import attempts, plans, releases, roadmaps, runs, watching
from milepost.core.errors import PlaceUnknown
from milepost.serving.threads import aside
from milepost.web.cache import TextCache
from milepost.web.diff.rows import ALL_LINES, CONTEXT, Sides, file_diffs
from milepost.web.highlight.client import Painter
from milepost.web.highlight.colours import Paint
from milepost.web.page_facts import PageFacts, run_named
from milepost.web.replies import Answering, answered, lasting, text_of
from milepost.web.summary import waiting_in

LONGEST_WORD: Final = 4_096  # a path has no more
LONGEST_LOG: Final = 4_000_000
RELEASES: Final = 5  # of each target
RELEASE_EVENTS: Final = 30
LENGTHS_S: Final = {"10m": 600.0, "1h": 3600.0, "1d": 86_400.0}
_NAMES: Final = ("task", "model", "agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How much of a diff is asked for: so many lines around changes, of one file or of all."""

    context: int
    path: str


def routes(site: PageFacts) -> list[BaseRoute]:
    """`/api/plan`, `attempt`, `files`, `file`, `log`, `task`, `costs`, `gates`, `releases` and `watch`."""
    kept, painter = TextCache(), Painter()
    looks: dict[str, Callable[[Request], str]] = {
        "/api/plan": partial(_plan, site),
        "/api/attempt": partial(_attempt, site, kept, painter),
        "/api/files": partial(_files, site),
        "/api/file": partial(_file, site, kept, painter),
        "/api/log": partial(_log, site),
        "/api/task": partial(_task, site),
        "/api/costs": partial(_costs, site),
        "/api/gates": partial(_gates, site),
        "/api/releases": partial(_releases, site),
        "/api/watch": partial(_watch, site),
    }
    return [Route(path, answered(site.roadmap, _looking(look)), methods=["GET"]) for path, look in looks.items()]


def _looking(look: Callable[[Request], str]) -> Answering:
    async def answer(request: Request) -> Response:
        return lasting(request, await aside(partial(look, request)))

    return answer


def _plan(site: PageFacts, request: Request) -> str:
    return text_of(runs.plan(_run(site, request), site.roadmap, database=site.database))


def _attempt(site: PageFacts, kept: TextCache, painter: Painter, request: Request) -> str:
    """An attempt with its proof and what it changed; what one that is over changed is made once."""
    run, task, number = _run(site, request), _word(request, "task"), _number(request, "attempt")
    told = attempts.details(task, number, site.roadmap, run=run, database=site.database)
    shown = Shown(context=_context(request), path=_word(request, "path", needed=False))
    attempt = told.attempt

    def make() -> str:
        return _diff(site, told, painter, shown)

    key = ("diff", told.run, told.task, attempt.number, attempt.base, attempt.commit, shown)
    diff = kept.get(key, make) if attempt.commit else make()
    story = {
        "run": told.run,
        "task": told.task,
        "title": told.title,
        "attempt": attempt.number,
        "attempts": told.numbers,
        "milepost": told.milepost,
        "agent": attempt.agent,
        "verdict": attempt.verdict,
        "reason": attempt.reason,
        "failure": attempt.failure,
        "said": attempt.said,
        "seconds": attempt.seconds,
        "cost_usd": attempt.cost_usd,
        "tokens": attempt.tokens,
        "calls": attempt.calls,
        "tools": attempt.tools,
        "commit": attempt.commit,
        "ref": attempt.ref,
        "checks": attempt.checks,
        "nothing_to_ask": attempt.nothing_to_ask,
        "confidence": attempt.confidence,
        "held": attempt.held,
        "basis": attempt.basis,
        "questions": attempt.questions,
        "decided": attempt.decided,
    }
    return f'{text_of(story)[:-1]},"diff":{diff}}}'


def _diff(site: PageFacts, told: attempts.TaskAttempt, painter: Painter, shown: Shown) -> str:
    """What an attempt changed, in all files or in one."""
    changed = attempts.changed_files(told.task, told.attempt.number, site.roadmap, run=told.run, database=site.database)
    files = [_sides(file) for file in changed.files if shown.path in ("", file.path)]
    return text_of(
        {
            "base": changed.base,
            "commit": changed.commit,
            "under_way": changed.under_way,
            "files": file_diffs(files, shown.context, painter.sitting()),
            "cut": changed.left_out > 0,
        }
    )


def _sides(file: attempts.FileChange) -> Sides:
    note = "a link: its text is where it leads" if file.is_link else "larger than is shown here" if file.cut else ""
    return Sides(
        path=file.path,
        was=file.was,
        kind=file.kind,
        before=file.before,
        after=file.after,
        added=(file.added or 0) if file.cut else 0,
        removed=(file.removed or 0) if file.cut else 0,
        binary=file.binary,
        generated=file.generated,
        cut=file.cut,
        note=note,
    )


def _files(site: PageFacts, request: Request) -> str:
    found = runs.files(_run(site, request), site.roadmap, database=site.database)
    return text_of({"commit": found.commit, "base": found.base, "files": found.files, "cut": found.left_out > 0})


def _file(site: PageFacts, kept: TextCache, painter: Painter, request: Request) -> str:
    path = _word(request, "path")
    found = runs.file_at(_run(site, request), path, site.roadmap, database=site.database)
    if found is None:
        raise PlaceUnknown("the run's branch has no file of this name", "choose one of the list")
    return kept.get(("file", found.commit, path), partial(_file_text, found, painter.sitting()))


def _file_text(found: runs.FileText, paint: Paint) -> str:
    rows = enumerate(paint(found.path, found.text or ""), start=1)
    told = {"path": found.path, "commit": found.commit, "binary": found.binary, "link": found.is_link}
    return text_of({**told, "cut": found.cut, "rows": tuple(rows)})


def _log(site: PageFacts, request: Request) -> str:
    task, number, check = _word(request, "task"), _number(request, "attempt"), _word(request, "check")
    logs = attempts.logs(task, number, site.roadmap, run=_run(site, request), database=site.database)
    text = next((text for name, text in logs if name == check), None)
    if text is None:
        raise PlaceUnknown(f"there is no log of {check[:80]!r}", "it ran nothing, or its log is gone by now")
    return text_of({"text": text[-LONGEST_LOG:], "cut": len(text) > LONGEST_LOG})


def _task(site: PageFacts, request: Request) -> str:
    return text_of(roadmaps.task_text(_word(request, "task"), site.roadmap))


def _costs(site: PageFacts, request: Request) -> str:
    """What a run took, by whom, and what the open tasks are expected to take; nothing where nothing was run."""
    costs = runs.costs(site.roadmap, run=_run(site, request), database=site.database)
    if costs is None:
        return text_of({"run": ""})
    sums = {f"by_{name}": [{"name": whose, **_expense(one)} for whose, one in costs.by(name)] for name in _NAMES}
    return text_of(
        {"run": costs.run, **sums, "spent": costs.spent, "budget": costs.budget, "forecast": _forecast(site)}
    )


def _expense(one: runs.Expense) -> dict[str, float]:
    names = ("usd", "held_usd", "attempts", "calls", "input_tokens", "output_tokens", "cached_tokens")
    return {name: getattr(one, name) for name in names}


def _forecast(site: PageFacts) -> plans.Forecast | None:
    try:
        return plans.forecast(site.roadmap)
    except milepost.MilepostError:  # a roadmap that cannot be planned now costs what it cost
        return None


def _gates(site: PageFacts, request: Request) -> str:
    """The questions of a run that wait, at a place in its stream: an answer is in there only once the run took it."""
    run = _run(site, request)
    last = site.stream.last(run) if run else 0
    return text_of({"waiting": waiting_in(site, run) if run else [], "last": last})


def _releases(site: PageFacts, request: Request) -> str:
    """What is where, how it is as far as this machine can see, and what happened to releases last."""
    moves = deque(releases.events(site.roadmap), maxlen=RELEASE_EVENTS)
    places = [_place(site, view) for view in releases.targets(site.roadmap, away=False) if view.live or view.unfinished]
    return text_of({"places": places, "moves": [releases.event_to_json(move) for move in reversed(moves)]})


def _place(site: PageFacts, view: releases.TargetView) -> dict[str, object]:
    found = releases.of_target(view.target, site.roadmap, environment=view.environment)
    return {
        "target": view.target,
        "environment": view.environment,
        "kind": view.kind,
        "traffic": view.traffic,
        "healthy": view.health.healthy if view.health else None,
        "detail": view.health.detail if view.health else "",
        "releases": [releases.to_json(record) for record in found[:RELEASES]],
    }


def _watch(site: PageFacts, request: Request) -> str:
    """What was measured of all that is watched, alerts, and what was done; it ends now, also where nobody looks."""
    length = request.query_params.get("length", "10m")
    if length not in LENGTHS_S:
        raise milepost.Misuse(f"{length[:40]!r} is no length", f"give one of {', '.join(LENGTHS_S)}")
    found = watching.overviews(site.roadmap, seconds=LENGTHS_S[length])
    return text_of({"places": [watching.overview_to_json(one) for one in found]})


def _run(site: PageFacts, request: Request) -> str | None:
    return run_named(site, request.query_params.get("run", "")) or None


def _word(request: Request, name: str, *, needed: bool = True) -> str:
    word = request.query_params.get(name, "")
    if (needed and not word) or len(word) > LONGEST_WORD:
        raise milepost.Misuse(f"the request needs a {name}", f"give it as ?{name}=")
    return word


def _number(request: Request, name: str) -> int | None:
    word = request.query_params.get(name, "")
    if not word:
        return None
    if not (word.isascii() and word.isdecimal() and 0 < len(word) < 7):
        raise milepost.Misuse(f"{word[:40]!r} is not a number of an attempt", "give one from 1")
    return int(word)


def _context(request: Request) -> int:
    word = request.query_params.get("context", "")
    if word == "all":
        return ALL_LINES
    if not word:
        return CONTEXT
    if not (word.isascii() and word.isdecimal() and len(word) < 7):
        raise milepost.Misuse(f"{word[:40]!r} is not a number of lines", "give one, or all")
    return int(word)
