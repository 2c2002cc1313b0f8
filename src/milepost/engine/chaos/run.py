"""Chaos from the copy to the table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from milepost.core.errors import MilepostError
from milepost.engine.chaos.copies import make_copy
from milepost.engine.chaos.drills import Calm, Drills
from milepost.engine.chaos.nursery import Nursery
from milepost.engine.chaos.report import ChaosReport, KillCosts
from milepost.engine.chaos.subject import Subject, find_subject
from milepost.engine.project.consent import YES


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosRequest:
    """What is to be disturbed, and how: None leaves the choice to us."""

    roadmap: Path | None = None
    cassette: Path | None = None
    tasks: int | None = None
    every_boundary: bool = True
    random: int = 30
    parallel: int = 1
    seed: int = 0
    keep: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosProgress:
    """How far chaos is: in which drill, and how many kills of how many."""

    drill: str
    kills: int
    of: int
    lives: int


ENOUGH = 3  # copies in which something is wrong: more would not tell more

OnProgress = Callable[[ChaosProgress], None]


def run_chaos(wish: ChaosRequest, on_progress: OnProgress) -> ChaosReport:
    """Try a roadmap aside: undisturbed, then killed. The copies stay where something is wrong, or on request."""
    folder = Path(tempfile.mkdtemp(prefix="milepost-chaos-"))
    kept = wish.keep
    try:
        report = _run(wish, folder, on_progress)
        kept = kept or not report.passed
        return report if not kept else _with_folder(report, folder)
    finally:
        if not kept:
            _remove(folder)


def _run(wish: ChaosRequest, folder: Path, on_progress: OnProgress) -> ChaosReport:
    subject = find_subject(wish.roadmap, wish.cassette, wish.tasks, folder)
    words = ("run", "--json", "--agent", subject.agent, "--parallel", str(wish.parallel))
    with Nursery() as nursery:
        drills = Drills(nursery=nursery, environ=_environ(), words=words, parallel=wish.parallel)
        on_progress(ChaosProgress(drill="undisturbed", kills=0, of=0, lives=1))
        calm = drills.calm(make_copy(subject.repository, folder / "calm", subject.roadmap))
        if subject.is_sample and calm.code != 0:
            raise MilepostError(
                "the sample run failed even without kills", "milepost doctor shows what is missing here"
            )
        everywhere = _everywhere(drills, subject, calm, folder, on_progress) if wish.every_boundary else None
        anywhere = _anywhere(drills, subject, calm, folder, wish, on_progress) if wish.random else None
    return ChaosReport(
        roadmap=subject.roadmap if not subject.is_sample else "",
        tasks=len(subject.tasks),
        parallel=wish.parallel,
        seed=wish.seed,
        mileposts=len(calm.ending.posts),
        boundaries=len(calm.account.recorded),
        model_calls=calm.account.calls,
        calm_s=calm.seconds,
        every_boundary=everywhere,
        random=anywhere,
    )


def _everywhere(drills: Drills, subject: Subject, calm: Calm, folder: Path, on_progress: OnProgress) -> KillCosts:
    def watch(kills: int, lives: int) -> None:
        on_progress(ChaosProgress(drill="every boundary", kills=kills, of=len(calm.account.recorded), lives=lives))

    watch(0, 0)
    home = folder / "every-boundary"
    return drills.at_every_boundary(make_copy(subject.repository, home, subject.roadmap), calm, watch)


def _anywhere(
    drills: Drills, subject: Subject, calm: Calm, folder: Path, wish: ChaosRequest, on_progress: OnProgress
) -> KillCosts:
    """A fresh copy for each instant; a run that was over before its kill came is tried again."""
    chance, total, unclean = Random(wish.seed), KillCosts(), 0  # noqa: S311
    for number in range(1, 2 * wish.random + 1):
        on_progress(ChaosProgress(drill="random instants", kills=total.kills, of=wish.random, lives=total.lives))
        if total.kills == wish.random or unclean == ENOUGH:
            break
        home = folder / f"instant-{number}"
        place = make_copy(subject.repository, home, subject.roadmap)
        toll = drills.at_an_instant(place, calm, chance, group=number % 2 == 0)
        total += toll
        unclean += not toll.clean
        if toll.clean and not wish.keep:
            _remove(home)
    return total


def _environ() -> dict[str, str]:
    """Our variables, with the folder of the real python3 first on PATH: each life asks for it, and a shim is slow.

    What the copies of a project may set was agreed to for the project itself. A shim is asked in a folder in which no
    file of a repository tells it what to start.
    """
    path = os.environ.get("PATH") or os.defpath
    found = shutil.which("python3", path=path)
    words = [found or sys.executable, "-I", "-c", "import sys; print(sys.executable)"]
    real = subprocess.run(words, cwd="/", capture_output=True, text=True, check=False).stdout.strip()
    first = [str(Path(real).parent)] if real else []
    return {**os.environ, "PATH": os.pathsep.join((*first, path)), YES: "1"}


def _with_folder(report: ChaosReport, folder: Path) -> ChaosReport:
    return replace(report, folder=str(folder))


def _remove(folder: Path) -> None:
    """Remove a folder; what a process that is still dying writes meanwhile is removed with the second try."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        time.sleep(0.5)
        shutil.rmtree(folder, ignore_errors=True)
