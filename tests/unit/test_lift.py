"""The experiment that measures whether the memory helps: its tasks, its scripted agent, its arithmetic."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LIFT = Path(__file__).parents[2] / "benchmarks" / "lift"

JUDGED = """
import os, sys
sys.path[:0] = [{lift!r}, {house!r}]
from tasks import ALL
programs = {{(job.id, name): code + chr(10) + job.check for job in ALL.values()
            for name, code in (("right", job.right), ("guessed", job.guessed))}}

for (job, name), program in programs.items():
    child = os.fork()
    if child == 0:
        try: exec(compile(program, job, "exec"), {{}})
        except BaseException: os._exit(1)
        os._exit(0)
    print(job, name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_what_is_right_passes_and_what_is_guessed_does_not() -> None:
    program = JUDGED.format(lift=str(LIFT), house=str(LIFT / "house"))
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    judged = {tuple(line.split()[:2]): line.split()[2] for line in told.splitlines()}
    assert len(judged) >= 2 * 34
    for (job, name), code in judged.items():
        assert code == ("0" if name == "right" or job.startswith("C") else "1"), (job, name)


def test_the_scripted_agent_does_what_it_is_told_and_knows_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(LIFT))
    from agent import written
    from tasks import ALL, WAYS

    needing = ALL["B01"]
    assert written(needing, "") == needing.guessed
    assert written(needing, "Coin.of('1.20')") == needing.guessed
    assert written(needing, "`from quay import stamp` then `stamp('inv')`") == needing.right
    assert written(needing, WAYS["stamp"].lie) != needing.right
    assert written(ALL["A01"], "") == ALL["A01"].guessed
    assert written(ALL["A01"], "", tries=2) == ALL["A01"].right
    assert written(ALL["C01"], "") == ALL["C01"].right != written(ALL["C01"], "anything")


def test_helped_and_harmed_are_counted_task_by_task_with_an_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(LIFT))
    from figures import Result, compared, sign_test

    def results(*passed: bool) -> dict[str, Result]:
        return {
            str(number): Result(task=str(number), passed=one, attempts=1, lessons=0, tokens=0)
            for number, one in enumerate(passed)
        }

    found = compared(results(False, False, True, True), results(True, True, False, True))
    assert (found.helped, found.harmed) == (2, 1)
    assert found.p == 1.0
    assert sign_test(16, 0) == pytest.approx(2 / 2**16)
    assert sign_test(0, 0) == 1.0
    assert sign_test(16, 3) == pytest.approx(0.0044, abs=1e-4)
