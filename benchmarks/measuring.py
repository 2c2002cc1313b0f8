"""What benchmarks have in common: arguments, repositories, what others are installed in, and the rows of the table.

Standard library only at its top: interpreters of others import it, too. `--smoke` runs a program at its smallest, once,
without others: to see that it works, not to measure.
"""

from __future__ import annotations

import argparse
import fcntl
import gc
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.core.commands import TrustLevel

HERE = Path(__file__).parent
ROWS = "MILEPOST_BENCH_ROWS"  # the file that rows of the table are added to


class NotThere(Exception):
    """What is compared with cannot be had here; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table: what was measured, and a goal for its ratio to the reference, else for itself."""

    what: str
    now: float
    goal: float
    unit: str = "ms"
    reference: float | None = None

    @property
    def measure(self) -> float:
        return self.now if self.reference is None else self.now / self.reference

    @property
    def met(self) -> bool:
        return self.measure <= self.goal

    def cells(self) -> tuple[str, ...]:
        """What it says: what, now, reference, ratio, goal, met or missed."""
        of = ("–", "–") if self.reference is None else (_shown(self.reference, self.unit), f"{self.measure:.3g}")
        goal = _shown(self.goal, self.unit) if self.reference is None else f"{self.goal:g}"
        return (self.what, _shown(self.now, self.unit), *of, f"≤ {goal}", "met" if self.met else "missed")


def _shown(number: float, unit: str) -> str:
    return f"{number:.3g} {unit}"


def tell(*rows: Row) -> None:
    """Print rows, and keep them for the table."""
    for row in rows:
        what, now, reference, ratio, goal, met = row.cells()
        print(f"{what}: {now}, of {reference}: {ratio}  (goal: {goal}, {met})", flush=True)
    if place := os.environ.get(ROWS):
        with Path(place).open("a") as file:
            file.writelines(json.dumps(asdict(row)) + "\n" for row in rows)


def arguments(doc: str | None, *, rounds: int) -> argparse.ArgumentParser:
    """A parser of what every program is asked with; a number alone is that of the rounds."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=rounds)
    parser.add_argument("--smoke", action="store_true", help="as small as can be, to see that it works")
    parser.add_argument("--without-others", action="store_true", help="leave out what is compared with")
    return parser


def answers(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What was asked; says how busy the machine is."""
    asked = parser.parse_args()
    if asked.smoke:
        asked.rounds, asked.without_others = 1, True
    print(f"{asked.rounds} rounds, medians; {load()}", flush=True)
    return asked


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def need(*problems: str) -> None:
    """End here, and say why, where something is missing on this machine."""
    for problem in filter(None, problems):
        print(f"not measured: {problem}")
        raise SystemExit


def seconds(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    action()
    return clock() - started


def interleaved(
    actions: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """The median seconds of each action, done one after the other in every round."""
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            gc.collect()  # what lay around before is nobody's
            taken[name].append(seconds(action, clock))
    return {name: statistics.median(each) for name, each in taken.items()}


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def make_repo(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit of these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "Bench")
    git(folder, "config", "user.email", "bench@localhost")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Start")
    return folder


def levels() -> list[TrustLevel]:
    """The walled trust levels that this machine supports; says which one it does not."""
    from milepost.core.commands import TrustLevel
    from milepost.core.errors import MilepostError
    from milepost.sandbox.levels import require

    held = []
    for level in (TrustLevel.ISOLATED, TrustLevel.SANDBOXED):
        try:
            require(level)
            held.append(level)
        except MilepostError as problem:
            print(f"{level.value} is left out: {problem}")
    return held


def others_python(name: str, asked: argparse.Namespace) -> str:
    """The Python that has what a program is compared with, or nothing: why is said."""
    if asked.without_others:
        return ""
    try:
        return installed(HERE / f"requirements-{name}.txt")
    except NotThere as problem:
        print(f"the others are not measured: {problem}", flush=True)
        return ""


def installed(requirements: Path) -> str:
    """The Python of a folder that has these packages, made when it is not there yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "milepost-benchmarks"
    wanted = requirements.read_bytes() + sys.version.encode()
    folder = cache / hashlib.sha256(wanted).hexdigest()[:16]
    cache.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            print("installing what is compared with, once", flush=True)
            _install(sys.executable, "-m", "venv", str(folder))
            pip = (str(folder / "bin/python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
            _install(*pip, "--requirement", str(requirements))
            (folder / "complete").touch()
    return str(folder / "bin/python")


def _install(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise NotThere(f"it cannot be installed: {' '.join(said[-1:])[:200]}")


@dataclass
class Watch:
    """Sees when a model is asked and when it has answered: what lies between is the agent's own time."""

    between_ms: list[float] = field(default_factory=list)
    characters: int = 0
    _answered_at: float | None = None

    def asked(self, characters: int) -> None:
        if self._answered_at is not None:
            self.between_ms.append((time.perf_counter() - self._answered_at) * 1000)
        self.characters += characters

    def answered(self) -> None:
        self._answered_at = time.perf_counter()
