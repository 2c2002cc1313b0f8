"""The benchmark: twenty small tasks for any agent, judged by checks that no agent gets to see."""

from __future__ import annotations

from milepost.bench.catalogue import BenchTask, find_tasks
from milepost.bench.report import Report, TaskReport, rows, to_json
from milepost.bench.run import run_bench

__all__ = ["BenchTask", "Report", "TaskReport", "find_tasks", "rows", "run_bench", "to_json"]
