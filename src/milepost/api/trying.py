"""Trying Milepost out: the demonstration, the benchmark, chaos."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.given import path_of, unheard

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from milepost.api.given import OnEvent
    from milepost.bench.report import Report, TaskReport
    from milepost.engine.chaos import ChaosProgress, ChaosReport
    from milepost.engine.workers.dispatch import Ending


def demo(
    folder: Path | str, *, on_event: OnEvent | None = None, on_made: Callable[[Path], None] | None = None
) -> Ending:
    """Make the sample repository in an empty folder and run its roadmap, with no key and no network.

    `on_made` is told the roadmap before it is run.
    """
    from milepost.demo import run_demo

    return run_demo(Path(folder), on_event or unheard, on_made or unheard)


def sample_roadmap() -> str:
    """The roadmap of the sample repository, as it is before the demonstration."""
    from milepost.demo import SAMPLE

    return (SAMPLE / "ROADMAP.md").read_text(encoding="utf-8")


def bench(agent: str, *, tasks: tuple[str, ...] = (), on_result: Callable[[TaskReport], None] | None = None) -> Report:
    """Let an agent do the benchmark's tasks, judged by checks that it never sees.

    `reference` is an agent that brings the solutions, `null` one that does nothing.
    """
    from milepost.bench import run_bench

    return run_bench(agent, tasks, None, on_result)


def bench_to_json(report: Report) -> dict[str, Any]:
    """The report of a benchmark as `milepost bench --json` prints it."""
    from milepost.bench import to_json

    return to_json(report)


def bench_rows(report: Report) -> list[tuple[str, ...]]:
    """The report of a benchmark as rows of words: headings, a row a task, the sums."""
    from milepost.bench import rows

    return rows(report)


def chaos(
    roadmap: Path | str | None = None,
    *,
    cassette: Path | str | None = None,
    tasks: int | None = None,
    every_boundary: bool = True,
    random: int = 30,
    parallel: int = 1,
    seed: int = 0,
    keep: bool = False,
    on_progress: Callable[[ChaosProgress], None] | None = None,
) -> ChaosReport:
    """Kill a run of a roadmap over and over, in copies aside, and count what was lost or done twice.

    `cassette` names the recorded answers; without a roadmap a sample of so many `tasks` is used.
    """
    from milepost.engine.chaos import ChaosWish, run_chaos

    wish = ChaosWish(
        roadmap=path_of(roadmap),
        cassette=path_of(cassette),
        tasks=tasks,
        every_boundary=every_boundary,
        random=random,
        parallel=parallel,
        seed=seed,
        keep=keep,
    )
    return run_chaos(wish, on_progress or unheard)


def chaos_to_json(report: ChaosReport) -> dict[str, Any]:
    """The report of chaos as `milepost chaos --json` prints it."""
    from milepost.engine.chaos import to_json

    return to_json(report)


def chaos_rows(report: ChaosReport) -> list[tuple[str, ...]]:
    """The report of chaos as rows of words: headings, and a row for each thing that was counted."""
    from milepost.engine.chaos import rows

    return rows(report)


def chaos_findings(report: ChaosReport) -> list[str]:
    """Each thing that should not be in a report of chaos, in a line; none when it passed."""
    from milepost.engine.chaos import findings

    return findings(report)
