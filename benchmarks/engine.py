"""What durability costs: a task, a step, a recorded call, and the room they take in the database.

    python benchmarks/engine.py [--rounds N] [--thousand] [--without-others] [--without-run]

(1) The same five no-op steps a task, one task after the other: as a plain script, on DBOS alone, on the engine's
durable layer, on LangGraph with its checkpointer and on Prefect, in a file and on a PostgreSQL server. (2) A recorded
call against a step of DBOS alone. (3) What each adds to the database. (4) The whole engine against a plain script that
does the same with git: `benchmarks/overhead.py`. Everything is interleaved, each measurement in a process of its own
on a fresh database; printed are medians, and ratios of them. LangGraph and Prefect are installed into a folder of
their own; what is not there, or takes too long, is said and left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "pipelines"))

from others import NotThere, installed, prefect_server  # noqa: E402
from places import FILE, Places, opened_places  # noqa: E402
from series import Row, Series  # noqa: E402

ROUNDS = 3
TASKS = (1, 10, 100)
STEPS, CALLS, TOOL_CALLS = 300, 300, 30
PATIENCE_S = 180.0  # for one measurement
GOAL_CALL = 1.3

BARE = Row(name="DBOS alone", probe="with_dbos.py", what="tasks")
PIPELINES = (
    Row(name="plain script", probe="with_nothing.py", what="tasks", databases=(FILE,)),
    BARE,
    Row(name="milepost's durable layer", probe="with_milepost.py", what="tasks"),
)
LANGGRAPH = Row(name="LangGraph, saved at each node", probe="with_langgraph.py", what="tasks")
PREFECT = Row(name="Prefect, results kept", probe="with_prefect.py", what="tasks", databases=(FILE,))

BARE_STEP = Row(name="a step of DBOS alone", probe="with_dbos.py", what="steps", number=STEPS)
MODEL_CALL = Row(name="a recorded model call", probe="with_milepost.py", what="calls", number=CALLS)
CALLED = (
    BARE_STEP,
    Row(name="a step of milepost", probe="with_milepost.py", what="steps", number=STEPS),
    MODEL_CALL,
    Row(name="a tool call and its snapshot", probe="with_milepost.py", what="tools", number=TOOL_CALLS),
)


def main() -> None:
    asked = arguments()
    tasks = (*TASKS, 1_000) if asked.thousand else TASKS
    print(f"{asked.rounds} rounds, medians; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory(prefix="milepost-bench-") as folder, ExitStack() as stack:
        places = stack.enter_context(opened_places(Path(folder)))
        rows = PIPELINES if asked.without_others else (*PIPELINES, *with_others(stack, Path(folder)))
        series = Series(places, PATIENCE_S)
        with suppress(KeyboardInterrupt):  # what was measured until then is shown
            for _ in range(asked.rounds):
                for number in tasks:
                    series.measure([row.of(number) for row in rows])
                series.measure(CALLED)
        for database in places.databases:
            show_tasks(series, database, rows, tasks)
            show_calls(series, database)
        show_missing(series, places)
        print(f"load {os.getloadavg()[0]:.1f} at the end", flush=True)
    if not asked.without_run:
        show_run()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What durability costs.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--thousand", action="store_true", help="also 1,000 tasks: takes long")
    parser.add_argument("--without-others", action="store_true", help="neither LangGraph nor Prefect")
    parser.add_argument("--without-run", action="store_true", help="not the whole engine against the plain script")
    return parser.parse_args()


def with_others(stack: ExitStack, folder: Path) -> tuple[Row, ...]:
    """The rows of the engines that are not ours, as far as they can be had."""
    try:
        python = installed(HERE / "requirements-engine.txt")
    except NotThere as reason:
        print(f"LangGraph, Prefect: not measured, {reason}", flush=True)
        return ()
    langgraph = LANGGRAPH.by(python)
    try:
        server = stack.enter_context(prefect_server(python, folder / "prefect"))
    except NotThere as reason:
        print(f"Prefect: not measured, {reason}", flush=True)
        return (langgraph,)
    return langgraph, PREFECT.by(python, place=server.place, env=server.env)


def show_tasks(series: Series, database: str, rows: tuple[Row, ...], tasks: tuple[int, ...]) -> None:
    """A line for each engine: milliseconds a task, and how that compares with DBOS alone for the most tasks."""
    heads = "".join(f"{f'{number:,} task' + 's' * (number > 1):>12}" for number in tasks)
    print(f"\n{f'ms a task, {database}':30}{heads}{'ratio':>9}{'bytes a task':>14}")
    for row in rows:
        if database not in row.databases:
            continue
        cells = "".join(f"{series.shown_ms(row.of(number), database):>12}" for number in tasks)
        most = row.of(tasks[-1])
        ratio = series.ratio(most, BARE.of(tasks[-1]), database)
        print(f"{row.name:30}{cells}{ratio:>9}{series.shown_bytes(most, database):>14}")


def show_calls(series: Series, database: str) -> None:
    """A line for each thing that is recorded: what it takes, against a step of DBOS alone, and its room."""
    print(f"\n{f'recorded, {database}':30}{'ms each':>12}{'ratio':>9}{'bytes each':>14}")
    for row in CALLED:
        goal = f"  (goal: at most {GOAL_CALL})" if row is MODEL_CALL else ""
        ratio = series.ratio(row, BARE_STEP, database)
        figures = f"{series.shown_ms(row, database):>12}{ratio:>9}{series.shown_bytes(row, database):>14}"
        print(f"{row.name:30}{figures}{goal}")


def show_missing(series: Series, places: Places) -> None:
    for line in (*places.missing, *series.missing()):
        print(line)


def show_run() -> None:
    print("\nthe whole engine, with git, sandbox, agent program and checks", flush=True)
    done = subprocess.run([sys.executable, str(HERE / "overhead.py")], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"not measured, exit {done.returncode}: {done.stderr.strip()[-200:]}")


if __name__ == "__main__":
    main()
