"""What remembering costs, beside mem0 and LangGraph's stores: the same tasks, one run.

    python benchmarks/memory.py [--sizes 1000,10000,100000] [--without-others] [--seconds 180]

Processor time, each store in a process of its own. Ours keeps an episode on disk when the call returns, and finds by
signature and full text. The others are given an embedder that costs next to nothing and no model: see
`memory_of_others.py`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring import answers, arguments, others_python
from memory_tasks import ADDS, LESSON_EVERY, queries, tasks

HERE = Path(__file__).parent
OURS = "milepost"
OTHERS = {
    "mem0": "mem0 (Qdrant in a folder)",
    "langgraph-memory": "LangGraph InMemoryStore",
    "langgraph-sqlite": "LangGraph SqliteStore",
}
BATCH = 1_000


@dataclass
class Figures:
    """What was measured of one store at one size; empty where it could not be measured, and `problem` says why."""

    import_s: float = 0.0
    filled: int = 0
    add_ms: float = 0.0
    search_ms: list[float] = field(default_factory=list)
    disk: int = 0
    recall_ms: list[float] = field(default_factory=list)
    catch_up_ms: float = 0.0
    problem: str = ""


def main() -> None:
    if sys.argv[1:2] == ["--ours"]:
        print(json.dumps(vars(ours(int(sys.argv[2]), Path(sys.argv[3])))))
        return
    parser = arguments(__doc__, rounds=1)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--seconds", type=float, default=180.0)
    asked = answers(parser)
    python = others_python("memory", asked)
    names = [OURS, *(OTHERS if python else ())]
    for size in (int(each) for each in ("200" if asked.smoke else asked.sizes).split(",")):
        _print(size, {name: _measured(name, size, python, asked.seconds) for name in names})


def ours(size: int, folder: Path) -> Figures:
    """Our own figures: episodes and one lesson to twenty of them, kept in a file with its index beside it."""
    begun = time.process_time()
    from milepost.memory.memory import StoredMemory
    from milepost.memory.recall.recall import Recaller
    from milepost.store.database import open_database

    figures = Figures(import_s=time.process_time() - begun, filled=size)
    from milepost.core.memories import Query

    rows = list(tasks(size + ADDS))
    with closing(open_database(folder / "milepost.db")) as database:
        memory = StoredMemory(database)
        for first in range(0, size, BATCH):
            _fill(memory, rows, range(first, min(size, first + BATCH)))
        with closing(Recaller(memory, index=folder / "recall.db")) as recaller:
            begun = time.process_time()
            recaller.search("nothing")
            figures.catch_up_ms = (time.process_time() - begun) / size * 1_000
            begun = time.process_time()
            for number in range(size, size + ADDS):
                memory.record(_episode(rows[number], number))
            figures.add_ms = (time.process_time() - begun) / ADDS * 1_000
            recaller.search("nothing")
            for text in queries():
                begun = time.process_time()
                recaller.search(text, "p0", 5)
                figures.search_ms.append((time.process_time() - begun) * 1_000)
                begun = time.process_time()
                recaller.recall(Query(project="p0", text=text))
                figures.recall_ms.append((time.process_time() - begun) * 1_000)
    figures.disk = sum(path.stat().st_size for path in folder.iterdir())
    return figures


def _fill(memory: Any, rows: list[tuple[str, str, str]], numbers: range) -> None:
    from milepost.core.memories import Lesson

    def fill() -> None:
        for number in numbers:
            project, title, text = rows[number]
            memory.record(_episode(rows[number], number))
            if number % LESSON_EVERY == 0:
                terms = tuple(title.split())
                lesson = Lesson(
                    id=f"l{number}", kind="usage", project=project, subject=title, text=text, made_at=1.0, terms=terms
                )
                memory.lessons.keep(lesson, [f"e{number}"], state="active")

    memory.rows.together(fill)


def _episode(row: tuple[str, str, str], number: int) -> Any:
    from milepost.core.memories import Episode, EpisodeEnd, EpisodeStart
    from milepost.core.verdict import Verdict

    project, title, text = row
    start = EpisodeStart(id=f"e{number}", project=project, title=title, text=text, started_at=1.0)
    return Episode(start=start, end=EpisodeEnd(kind="success", ended_at=2.0, verdict=Verdict.PASSED))


def _measured(name: str, size: int, python: str, seconds: float) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        if name == OURS:
            words = [sys.executable, str(HERE / "memory.py"), "--ours", str(size), folder]
        else:
            words = [python, str(HERE / "memory_of_others.py"), name, str(size), folder, str(seconds)]
        done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        return Figures(problem=" ".join(done.stderr.strip().splitlines()[-1:])[:160])
    return Figures(**json.loads(done.stdout.strip().splitlines()[-1]))


def _print(size: int, found: dict[str, Figures]) -> None:
    print(f"{size:,} episodes")
    print(
        f"  {'':28}{'add ms':>9}{'search p50':>12}{'p95':>9}{'import s':>10}{'disk MB':>9}   ratio to ours: add, search"
    )
    base = found[OURS]
    for name, figures in found.items():
        label = OTHERS.get(name, name)
        if figures.problem:
            print(f"  {label:28} not measured: {figures.problem}")
            continue
        p50, p95 = _percentiles(figures.search_ms)
        ratios = f"{figures.add_ms / base.add_ms:.1f}, {p50 / _percentiles(base.search_ms)[0]:.1f}"
        short = "" if figures.filled == size else f"  (only {figures.filled:,} in time)"
        print(
            f"  {label:28}{figures.add_ms:9.2f}{p50:12.2f}{p95:9.2f}{figures.import_s:10.2f}"
            f"{figures.disk / 1e6:9.1f}   {ratios}{short}"
        )
    p50, p95 = _percentiles(base.recall_ms)
    print(f"  ours: recall of lessons p50 {p50:.2f}, p95 {p95:.2f} ms; indexing {base.catch_up_ms:.3f} ms an episode\n")


def _percentiles(figures: list[float]) -> tuple[float, float]:
    return statistics.median(figures), statistics.quantiles(figures, n=20)[-1]


if __name__ == "__main__":
    main()
