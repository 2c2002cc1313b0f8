"""The memory helps: measured with a scripted agent that knows only what it is told."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.slow import ALL

RUN = Path(__file__).parents[2] / "benchmarks" / "lift" / "run.py"


def test_tasks_pass_that_do_not_without_memory_and_none_is_harmed() -> None:
    count = 24 if ALL else 4  # three for each way of the house, or one for each second way
    program = [sys.executable, str(RUN), "--check", "--tasks", str(count)]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    rows = {line.split()[0]: line for line in done.stdout.splitlines()[2:]}
    assert re.match(rf"off +0/{count} ", rows["off"])
    assert re.match(rf"on +{count}/{count} ", rows["on"])
    assert set(rows) == {"off", "on", "irrelevant", "poisoned", "forged"}
