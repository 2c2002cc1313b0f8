"""The benchmarks work: those that take but seconds when small are run, and the table says what came of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_every_benchmark_that_is_quick_when_small_runs_to_its_end(tmp_path: Path) -> None:
    program = [sys.executable, str(BENCHMARKS / "all.py"), "--smoke", "--quick"]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(program, capture_output=True, text=True, env=env)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    table = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    assert {"| a trivial task in a run, 1 at a time", "| `status`, CPU"} <= {cells[0] for cells in table}
    assert {cells[-1] for cells in table} <= {"met |", "missed |"}


def test_every_program_of_the_benchmarks_is_among_those_that_are_run() -> None:
    from all import PROGRAMS

    programs = {path.name for path in BENCHMARKS.glob("*.py") if "    python benchmarks/" in path.read_text()}
    started_by_others = {"all.py", "interpreters.py"} | {path.name for path in BENCHMARKS.glob("*_of_*.py")}
    assert programs - started_by_others == {each.words.split()[0] for each in PROGRAMS}


def test_a_goal_is_for_the_ratio_where_there_is_a_reference_and_else_for_the_figure() -> None:
    from measuring import Row

    ratio = Row(what="a call", now=30, reference=20, goal=1.5)
    assert ratio.met and ratio.cells() == ("a call", "30 ms", "20 ms", "1.5", "≤ 1.5", "met")
    alone = Row(what="a task", now=0.8, unit="s", goal=0.4)
    assert not alone.met and alone.cells() == ("a task", "0.8 s", "–", "–", "≤ 0.4 s", "missed")


def test_a_table_takes_the_place_of_the_one_before() -> None:
    from all import BEGIN, END, with_table

    page = with_table(f"before\n{BEGIN}{END}after\n", "one")
    assert page == f"before\n{BEGIN}\none\n{END}after\n"
    assert with_table(page, "two") == page.replace("one", "two")
