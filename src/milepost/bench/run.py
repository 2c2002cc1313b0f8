"""A benchmark from its first task to its report."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from milepost.bench.catalogue import BenchTask, find_tasks, make_repository, take_out
from milepost.bench.hidden import HiddenResult, judge
from milepost.bench.report import Report, TaskReport
from milepost.core.errors import Misuse
from milepost.core.events import AttemptFinished, Event, RunFinished
from milepost.core.own_files import SETTINGS_FILE
from milepost.core.ports import Terminal
from milepost.core.verdict import Verdict
from milepost.engine.agents.factory import make_agent
from milepost.engine.project.consent import agree_for_this_process
from milepost.engine.project.settings.load import EVERYTHING, load, wanted_by
from milepost.engine.records.run_request import Caller, OnEvent, RunRequest
from milepost.engine.run.start import run
from milepost.sandbox.levels import open_terminal, strongest

OnResult = Callable[[TaskReport], None]


def run_bench(
    agent: str, tasks: tuple[str, ...] = (), on_event: OnEvent | None = None, on_result: OnResult | None = None
) -> Report:
    """Let an agent do the tasks of these ids, all without any, each in a repository of its own.

    `reference` is an agent that brings the solutions, `null` one that does nothing. Any other is set up as the
    settings of the current folder say. `on_event` is told what happens in each run, `on_result` what came of it.
    When a run is stopped, the report is on the tasks before it.
    """
    chosen, python = find_tasks(tasks), _python()
    reports = []
    with (
        tempfile.TemporaryDirectory(prefix="milepost-bench-") as folder,
        open_terminal(strongest(), in_checkouts=True) as terminal,
    ):
        for task in chosen:
            report = _one(task, agent, Path(folder, task.id), python, terminal, on_event or _ignore)
            if report is None:
                break
            reports.append(report)
            if on_result is not None:
                on_result(report)
    return Report(agent=agent, tasks=tuple(reports))


def _one(
    task: BenchTask, agent: str, folder: Path, python: Path, terminal: Terminal, on_event: OnEvent
) -> TaskReport | None:
    """One task: the run, then the hidden checks on what it called done; None when the run was stopped."""
    started = time.monotonic()
    folder.mkdir()
    repository = folder / "repository"
    roadmap = make_repository(task, repository, python)
    agree_for_this_process(repository / SETTINGS_FILE, wanted_by(repository))
    tokens: list[int] = []

    def listen(event: Event) -> None:
        if isinstance(event, AttemptFinished) and (told := getattr(event, "tokens", None)) is not None:
            tokens.append(told)
        on_event(event)

    name = task.agent(agent)
    given = {name: make_agent(name, load(Path.cwd(), uses=EVERYTHING), Path.cwd())}
    ending = run(RunRequest(roadmap=roadmap, agent=name, parallel=1), Caller(on_event=listen, agents=given))
    if not isinstance(ending, RunFinished):
        return None
    summary = ending.tasks[0]
    done = summary.verdict is Verdict.PASSED and summary.commit is not None
    seen = _look(task, repository, summary.commit, folder, python, terminal) if done and summary.commit else None
    return TaskReport(
        id=task.id,
        title=task.title,
        milepost=done,
        hidden=seen.passed if seen is not None else None,
        attempts=summary.attempts,
        tokens=sum(tokens) if tokens else None,
        cost_usd=ending.cost_usd,
        duration_ms=int((time.monotonic() - started) * 1000),
        held=summary.verdict is Verdict.HELD,
        reason=seen.reason if seen is not None and not seen.passed else summary.reason,
    )


def _look(
    task: BenchTask, repository: Path, commit: str, folder: Path, python: Path, terminal: Terminal
) -> HiddenResult:
    result, scratch = folder / "result", folder / "scratch"
    take_out(repository, commit, result)
    scratch.mkdir()
    return judge(task.hidden, result, scratch, python, terminal)


def _python() -> Path:
    """An interpreter with pytest, for the tasks' own tests and the hidden checks: ours, or the one on PATH."""
    if importlib.util.find_spec("pytest") is not None:
        return Path(sys.executable)
    found = shutil.which("python3", path=os.environ.get("PATH"))
    words = [found or "", "-I", "-c", "import pytest"]
    if found and subprocess.run(words, cwd="/", capture_output=True, check=False).returncode == 0:
        return Path(found).absolute()
    raise Misuse(
        "the benchmark's checks need pytest, and no interpreter here has it",
        f"{sys.executable} -m pip install pytest, or put one that has it first on PATH",
    )


def _ignore(_: Event) -> None:
    pass
