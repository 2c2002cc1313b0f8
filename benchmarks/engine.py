"""What durability costs: a task, a step, a recorded call, and the room they take in the database.

    python benchmarks/engine.py [ROUNDS] [--thousand] [--without-others]

(1) The same five no-op steps a task, one task after the other: as a plain script, on DBOS alone, on the engine's
durable layer, on LangGraph with its checkpointer and on Prefect, in a file and on a PostgreSQL server. (2) A recorded
call against a step of DBOS alone. (3) What each adds to the database. The whole engine against a plain script is in
`benchmarks/overhead.py`. Everything is interleaved, each measurement in a process of its own
on a fresh database; printed are medians, and ratios of them. LangGraph and Prefect are installed into a folder of
their own; what is not there, or takes too long, is said and left out.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "pipelines"))

from measuring import NotThere, Row, answers, arguments, load, others_python, tell  # noqa: E402
from places import FILE, opened_places  # noqa: E402
from prefect_server import prefect_server  # noqa: E402
from series import Series, Subject  # noqa: E402

TASKS = (1, 10, 100)
STEPS, CALLS, TOOL_CALLS = 300, 300, 30
PATIENCE_S = 180.0  # for one measurement

BARE = Subject(name="DBOS alone", probe="with_dbos.py", what="tasks")
PIPELINES = (
    Subject(name="plain script", probe="with_nothing.py", what="tasks", databases=(FILE,)),
    BARE,
    Subject(name="milepost's durable layer", probe="with_milepost.py", what="tasks"),
)
LANGGRAPH = Subject(name="LangGraph, saved at each node", probe="with_langgraph.py", what="tasks")
PREFECT = Subject(name="Prefect, results kept", probe="with_prefect.py", what="tasks", databases=(FILE,))

BARE_STEP = Subject(name="a step of DBOS alone", probe="with_dbos.py", what="steps", number=STEPS)
MODEL_CALL = Subject(name="a recorded model call", probe="with_milepost.py", what="calls", number=CALLS)
TOOL_CALL = Subject(name="a tool call and its snapshot", probe="with_milepost.py", what="tools", number=TOOL_CALLS)
CALLED = (
    BARE_STEP,
    Subject(name="a step of milepost", probe="with_milepost.py", what="steps", number=STEPS),
    MODEL_CALL,
    TOOL_CALL,
)


def main() -> None:
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("--thousand", action="store_true", help="also 1,000 tasks: takes long")
    asked = answers(parser)
    tasks = (2,) if asked.smoke else (*TASKS, 1_000) if asked.thousand else TASKS
    called = [row.of(3) for row in CALLED] if asked.smoke else CALLED
    with tempfile.TemporaryDirectory(prefix="milepost-bench-") as folder, ExitStack() as stack:
        places = stack.enter_context(opened_places(Path(folder)))
        python = others_python("engine", asked)
        rows = (*PIPELINES, *with_others(stack, Path(folder), python)) if python else PIPELINES
        series = Series(places, PATIENCE_S)
        with suppress(KeyboardInterrupt):  # what was measured until then is shown
            for _ in range(asked.rounds):
                for number in tasks:
                    series.measure([row.of(number) for row in rows])
                series.measure(called)
        for database in places.databases:
            show_tasks(series, database, rows, tasks)
            show_calls(series, database, called)
            tell_goals(series, database, tasks[-1], called)
        missing = (*places.missing, *series.missing())
        print(*missing, f"{load()} at the end", sep="\n", flush=True)
    if asked.smoke and series.missing():
        sys.exit(1)


def with_others(stack: ExitStack, folder: Path, python: str) -> tuple[Subject, ...]:
    """The rows of the engines that are not ours, as far as they can be had."""
    langgraph = LANGGRAPH.by(python)
    try:
        server = stack.enter_context(prefect_server(python, folder / "prefect"))
    except NotThere as reason:
        print(f"Prefect: not measured, {reason}", flush=True)
        return (langgraph,)
    return langgraph, PREFECT.by(python, place=server.place, env=server.env)


def show_tasks(series: Series, database: str, rows: tuple[Subject, ...], tasks: tuple[int, ...]) -> None:
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


def show_calls(series: Series, database: str, called: Sequence[Subject]) -> None:
    """A line for each thing that is recorded: what it takes, against a step of DBOS alone, and its room."""
    print(f"\n{f'recorded, {database}':30}{'ms each':>12}{'ratio':>9}{'bytes each':>14}")
    for row in called:
        ratio = series.ratio(row, called[0], database)
        print(f"{row.name:30}{series.shown_ms(row, database):>12}{ratio:>9}{series.shown_bytes(row, database):>14}")


def tell_goals(series: Series, database: str, most: int, called: Sequence[Subject]) -> None:
    """The rows of the table, as far as they could be measured."""
    step, _, model, tool = called
    for what, row, to, goal in (
        ("durable layer a task, of DBOS alone", PIPELINES[-1].of(most), BARE.of(most), 1.5),
        ("a recorded model call, of a DBOS step", model, step, 1.0 if database == FILE else 1.3),
        ("a tool call with its snapshot, 200 files", tool, None, 10),
    ):
        now, reference = series.median_ms(row, database), series.median_ms(to, database) if to else None
        if now is not None and (to is None or reference is not None):
            tell(Row(what=f"{what}, {database}", now=now, reference=reference, goal=goal))


if __name__ == "__main__":
    main()
