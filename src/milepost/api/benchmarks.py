"""The benchmark of agents, and chaos: a run that is killed over and over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import ignore, path_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from milepost.bench.report import Report, TaskReport
    from milepost.engine.chaos import ChaosProgress, ChaosReport


def run(agent: str, *, tasks: tuple[str, ...] = (), on_result: Callable[[TaskReport], None] | None = None) -> Report:
    """Run the benchmark's tasks with an agent; hidden checks judge the results.

    The agent `reference` knows the solutions, the agent `null` does nothing.
    """
    from milepost.bench import run_bench

    return run_bench(agent, tasks, None, on_result)


def to_json(report: Report) -> dict[str, Any]:
    """The report of a benchmark as `milepost bench --json` prints it."""
    from milepost.bench import to_json as bench_to_json

    return bench_to_json(report)


def rows(report: Report) -> list[tuple[str, ...]]:
    """The report of a benchmark as rows of text: headings, one row per task, the sums."""
    from milepost.bench import rows as bench_rows

    return bench_rows(report)


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
    """Kill a run of a roadmap over and over, in copies of the repository, and count what was lost or done twice.

    `cassette` names the recorded answers; without a roadmap a sample with this number of `tasks` is used.
    """
    from milepost.engine.chaos import ChaosRequest, run_chaos

    wish = ChaosRequest(
        roadmap=path_of(roadmap),
        cassette=path_of(cassette),
        tasks=tasks,
        every_boundary=every_boundary,
        random=random,
        parallel=parallel,
        seed=seed,
        keep=keep,
    )
    return run_chaos(wish, on_progress or ignore)


def chaos_to_json(report: ChaosReport) -> dict[str, Any]:
    """The report of chaos as `milepost chaos --json` prints it."""
    from milepost.engine.chaos import to_json

    return to_json(report)


def chaos_rows(report: ChaosReport) -> list[tuple[str, ...]]:
    """The report of chaos as rows of text: headings, and one row per count."""
    from milepost.engine.chaos import rows

    return rows(report)


def chaos_findings(report: ChaosReport) -> list[str]:
    """What is wrong in a report of chaos, one line each; empty if it passed."""
    from milepost.engine.chaos import findings

    return findings(report)
