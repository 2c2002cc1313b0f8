"""Runs a target for some minutes, each input within bounds of time and memory, and keeps what went wrong."""

from __future__ import annotations

import faulthandler
import hashlib
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from milepost.core.errors import MilepostError

PROCESSOR_S = 8.0  # on a machine that is quiet
REFERENCE_S = 0.1  # what the reference takes there
STANDSTILL_S = 120.0
MEMORY_BYTES = 3 << 30
_ROUND = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to read: `check` raises, never returns or grows where there is a finding."""

    inputs: SearchStrategy[Any]
    check: Callable[[Any], object]


@dataclass(slots=True)
class Report:
    """How often a target was run, and the findings: what happened, with an input for each."""

    executions: int = 0
    findings: dict[str, Any] = field(default_factory=dict)


class TooSlow(BaseException):
    """An input took more of the processor than it should; no reader catches this."""


def fuzz(
    target: Target, *, seconds: float, first_seed: int = 0, round_of: int = _ROUND, last: Path | None = None
) -> Report:
    """Run a target until the time is over, at least one round; `last` keeps the input that it stands still at."""
    report, ends, number = Report(), time.monotonic() + seconds, first_seed
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while number == first_seed or time.monotonic() < ends:
        _round(target, report, number, round_of, last)
        number += 1
    return report


def _round(target: Target, report: Report, number: int, examples: int, last: Path | None) -> None:
    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(target.inputs)
    def once(given_input: Any) -> None:
        report.executions += 1
        if last:
            last.write_text(repr(given_input), encoding="utf-8", errors="backslashreplace")
        problem = problem_of(target.check, given_input)
        if problem and problem not in report.findings:
            report.findings[problem] = given_input

    once()


def problem_of(check: Callable[[Any], object], given_input: Any) -> str:
    """What goes wrong with an input, told by where; empty when nothing does."""
    try:
        with _bounded():
            check(given_input)
    except MilepostError:
        return ""
    except (Exception, TooSlow) as error:
        ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "milepost" in frame.filename]
        place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}" if ours else "?"
        return f"{type(error).__name__} in {place}: {str(error)[:80]}"
    return ""


@contextmanager
def _bounded() -> Iterator[None]:
    granted_s = PROCESSOR_S

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal granted_s
        fair_s = PROCESSOR_S * _slowness()
        if granted_s >= fair_s:
            raise TooSlow(f"more than {granted_s:g} s of the processor")
        signal.setitimer(signal.ITIMER_PROF, fair_s - granted_s)
        granted_s = fair_s

    before = signal.signal(signal.SIGPROF, stop)
    faulthandler.dump_traceback_later(STANDSTILL_S, exit=True, file=2)
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGPROF, before)


def _slowness() -> float:
    """How many times as much of the processor the same work takes now: neighbours share its caches and its clock."""
    began = time.process_time()
    sum(number * number % 7 for number in range(1_500_000))
    return max(1.0, (time.process_time() - began) / REFERENCE_S)


def bound_memory() -> None:
    """Leave this process so much memory that a reader which needs more fails."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def keep(report: Report, folder: Path) -> None:
    """Write the findings down, an input a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for problem, given_input in report.findings.items():
        name = hashlib.sha256(problem.encode()).hexdigest()[:8]
        (folder / f"{name}.txt").write_text(
            f"{problem}\n{given_input!r}\n", encoding="utf-8", errors="backslashreplace"
        )
