"""How the instances of a release are: alive, answering, and really the ones that answer."""

from __future__ import annotations

import http.client
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.ship.local.processes import listens
from milepost.ship.local.static_server import USER_AGENT
from milepost.ship.local.wanted import Kept, Program

ADDRESS = "127.0.0.1"
ANSWER_S = 3.0
LONGEST_ANSWER = 1_000_000
MOST_DEATHS = 3
# The application is up and has no such page, or wants a password for it: waiting changes nothing.
_SETTLED_ANSWERS = (401, 403, 404, 405)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One process of a release. `problem` is what is wrong with it, `settled` that time will not mend that.

    `deaths` are those of the last minute, `died_at` is when it died last.
    """

    name: str
    port: int
    alive: bool
    deaths: int
    died_at: float = 0.0
    problem: str = ""
    settled: bool = True


def look_at(program: Program, kept: Kept | None, health_path: str) -> Instance:
    """Ask an instance how it is."""
    deaths = len(kept.recent_deaths) if kept else 0
    name, settled = f"instance {program.name}", deaths >= MOST_DEATHS
    problem = ""
    if kept is not None and kept.process is not None and kept.process.alive:
        problem, answered = _ask(program, health_path)
        settled = settled or answered in _SETTLED_ANSWERS
        if answered and not listens(program.port, kept.mark) and kept.process.alive:
            problem, settled = f"{name}: another program answers on port {program.port}", True
    alive = kept is not None and kept.process is not None and kept.process.alive
    if not alive:
        code = "" if kept is None or kept.ended_with is None else f" with {kept.ended_with}"
        why = kept.said if kept and kept.said else f"it ended{code}" if deaths else "it is being started"
        problem = f"{name}: {why}{last_line(program.log) if deaths else ''}"
    return Instance(
        name=program.name,
        port=program.port,
        alive=alive,
        deaths=deaths,
        died_at=kept.deaths[-1] if kept and kept.deaths else 0.0,
        problem=problem,
        settled=settled,
    )


def most_telling(ill: Sequence[Instance]) -> Instance:
    """The instance that died most often: one that is only being started says nothing of why."""
    return max(ill, key=lambda each: each.deaths)


def last_line(log: str) -> str:
    """What a program printed last, as the end of a sentence; empty where it printed nothing."""
    with suppress(OSError):
        lines = [line for line in Path(log).read_text(errors="replace").splitlines() if line.strip()]
        return f": {lines[-1].strip()[:200]}" if lines else ""
    return ""


def _ask(program: Program, path: str) -> tuple[str, int]:
    """What is wrong with the answer of an instance, and its status; 0 where it does not answer."""
    try:
        with closing(http.client.HTTPConnection(ADDRESS, program.port, timeout=ANSWER_S)) as connection:
            connection.request("GET", path, headers={"User-Agent": USER_AGENT})
            response = connection.getresponse()
            response.read(LONGEST_ANSWER)
            status = response.status
    except (OSError, http.client.HTTPException) as error:
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return f"instance {program.name} does not answer GET {path}: {said}", 0
    return ("", status) if status < 400 else (f"instance {program.name} answered GET {path} with {status}", status)
