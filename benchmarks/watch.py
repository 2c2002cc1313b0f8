"""The watcher against faults put into a live release, on the local target under load, on loopback.

    python benchmarks/watch.py [--smoke] [FAULT ...]          all faults when none is named
    RATE=200 SECONDS=40 python benchmarks/watch.py errors

Three instances and a warm release before them; nine GETs to one POST. For each fault it prints the seconds until it was
noticed, what was done and when, the seconds until all was well again, and what users saw fail.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from milepost.engine.watching.follow import follow
from milepost.engine.watching.watcher import Sight
from milepost.watch.heal.situation import Escalate, RemedyOutcome
from tests import environment
from tests.deploying import Deployed, Users
from tests.faulty import faulty, inject

RATE, SECONDS = float(os.environ.get("RATE", "200")), float(os.environ.get("SECONDS", "40"))
CALM_S, THREADS = 5.0, 25


@dataclass
class Seen:
    """What the watcher told, by seconds since the fault."""

    detected: float | None = None
    done: list[str] = field(default_factory=list)
    remedies: set[int] = field(default_factory=set)
    well: float | None = None


def crash(project: Deployed, *, everyone: bool) -> None:
    live = project.shown()[0]
    for at in range(3 if everyone else 1):
        if pid := project.pid_of(f"{live}.{at}"):
            os.kill(pid, signal.SIGKILL)


def dependency(project: Deployed) -> None:
    inject(project, "depends", PORT)


with closing(socket.create_server(("127.0.0.1", 0))) as _free:
    PORT = _free.getsockname()[1]
    """Nobody listens there: the dependency is down."""

FAULTS: dict[str, tuple[str, Callable[[Deployed], None]]] = {
    "crash of one": ("", lambda project: crash(project, everyone=False)),
    "crash of all": ("", lambda project: crash(project, everyone=True)),
    "leak in one": ("memory_mb = 120", lambda project: inject(project, "leak", 400_000, only=0)),
    "spin in one": ("", lambda project: inject(project, "spin", SECONDS, only=0)),
    "one is slow": ("", lambda project: inject(project, "slow", 1.6, only=0)),
    "release is slow": ("", lambda project: inject(project, "slow", 1.5)),
    "errors": ("", lambda project: inject(project, "errors", 0.3)),
    "health page": ("", lambda project: inject(project, "ill", 1)),
    "dependency": (f'dependencies = ["127.0.0.1:{PORT}"]', dependency),
    "all die": ("", lambda project: inject(project, "die", 1)),
}


def run(name: str, *, seconds: float = SECONDS) -> None:
    settings, fault = FAULTS[name]
    with tempfile.TemporaryDirectory() as folder, faulty(Path(folder), f"[watch]\n{settings}\n") as project:
        seen, over, at = Seen(), threading.Event(), [float("inf")]

        def tell(sight: Sight) -> bool:
            _note(seen, sight, at[0])
            return not over.is_set()

        watcher = threading.Thread(target=follow, args=(project.roadmap, "local", "dev", "auto", tell))
        with Users(project.port, users=THREADS, each_s=THREADS / RATE) as load:
            watcher.start()
            time.sleep(CALM_S)
            at[0] = time.time()
            fault(project)
            time.sleep(seconds)
            over.set()
            watcher.join()
    lost = [
        sum(n for (how, what), n in load.answers.items() if how == method and what != 200) for method in ("GET", "POST")
    ]
    total = sum(load.answers.values())
    print(
        f"{name:16} detected {_s(seen.detected)}   done {', '.join(seen.done) or 'nothing'}   well {_s(seen.well)}   "
        f"lost {lost[0]} GET {lost[1]} POST of {total}",
        flush=True,
    )


def _note(seen: Seen, sight: Sight, fault_at: float) -> None:
    since = sight.at - fault_at
    if since < 0 or sight.situation is None:
        return
    if sight.situation.breach:
        seen.detected = since if seen.detected is None else seen.detected
        seen.well = None
    elif seen.detected is not None and seen.well is None:
        seen.well = since
    remedy = sight.remedy
    if remedy is not None and remedy.number not in seen.remedies and remedy.outcome is not RemedyOutcome.UNDER_WAY:
        seen.remedies.add(remedy.number)
        seen.done.append(f"{remedy.kind} {remedy.subject} ({remedy.at - fault_at:.1f} s, {remedy.outcome})")
    if isinstance(sight.decision, Escalate) and f"a person ({sight.decision.why})" not in seen.done:
        seen.done.append(f"a person ({sight.decision.why})")


def _s(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"


def main(names: list[str]) -> None:
    environment.settle()
    environment.keep_state_apart()
    environment.agree()
    print(f"{RATE:.0f} requests a second, {SECONDS:.0f} s each, load average {os.getloadavg()[0]:.0f}", flush=True)
    smoke = "--smoke" in names
    for name in [each for each in names if each != "--smoke"] or (["crash of one"] if smoke else FAULTS):
        run(name, seconds=8.0 if smoke else SECONDS)


if __name__ == "__main__":
    main(sys.argv[1:])
