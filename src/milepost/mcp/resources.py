"""What a client can read: the roadmap, the events of a run by pages, proofs, lessons."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

import milepost
import milepost.events
from milepost import proofs
from milepost.mcp.project_folder import ServerProject
from milepost.mcp.tool import problem_in_words
from milepost.mcp.tools.memory import lesson_told, lessons_listed
from milepost.serving.threads import aside

T = TypeVar("T")

PAGE = 100
MOST_LESSONS = 50
LONGEST_ROADMAP = 1_000_000
JSON = "application/json"


def add_resources(server: MCPServer[Any], place: ServerProject) -> None:
    @server.resource("milepost://roadmap", mime_type="text/markdown", description="The roadmap of the project")
    async def roadmap() -> str:
        return await _read(lambda: _roadmap(place.roadmap()))

    @server.resource("milepost://lessons", mime_type=JSON, description="Lessons learned in this project")
    async def lessons() -> str:
        return await _read(lambda: _json(lessons_listed(place.named(), MOST_LESSONS)))

    @server.resource("milepost://lessons/{lesson}", mime_type=JSON, description="One lesson, with its sources")
    async def lesson(lesson: str) -> str:
        return await _read(lambda: _json(lesson_told(place.named(), lesson)))

    @server.resource(
        "milepost://runs/{run}/events{?after}",
        mime_type=JSON,
        description=f"Events of a run, {PAGE} a page; `next` is where the next page begins",
    )
    async def events(run: str, after: str = "0") -> str:
        return await _read(lambda: _json(events_page(place.roadmap(), run, _number(after))))

    @server.resource("milepost://proofs/{task}", mime_type=JSON, description="The evidence that a task is done")
    async def proof(task: str) -> str:
        return await _read(lambda: _json(proofs.to_json(milepost.proof(task, place.roadmap()))))


def events_page(roadmap: Path, run: str, after: int) -> dict[str, Any]:
    """A page of a run's events, and where the next one begins; `latest` means the newest run."""
    entries = milepost.events.read(roadmap, run=None if run == "latest" else run, after=after)
    found = list(islice(entries, PAGE + 1))
    page: dict[str, Any] = {"events": [milepost.events.entry_to_json(entry) for entry in found[:PAGE]]}
    return page | ({"next": found[PAGE - 1].seq} if len(found) > PAGE else {})


def _roadmap(path: Path) -> str:
    pages = sorted(path.glob("*.md")) if path.is_dir() else [path]
    return "\n".join(map(_page, pages))[:LONGEST_ROADMAP]


def _page(page: Path) -> str:
    """The beginning of a page; of a pipe nothing, and nobody waits for it."""
    with os.fdopen(os.open(page, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        return file.read(LONGEST_ROADMAP).decode("utf-8", "replace")


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise milepost.Misuse(f"{text[:40]!r} is not a place in a stream of events", "give a number")
    return int(text)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def _read(call: Callable[[], T]) -> T:
    """What a call gives; what it refuses is said in a line, as the protocol wants it."""
    try:
        return await aside(call)
    except milepost.Misuse as problem:
        raise ResourceNotFoundError(problem_in_words(problem)) from None
    except (milepost.MilepostError, OSError) as problem:
        raise ResourceError(problem_in_words(problem)) from None
