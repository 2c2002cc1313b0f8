"""Twenty tasks with a real model that is far too weak for them: nothing breaks, and nothing is done that is not.

Takes minutes, so that it is asked for: `tests/live/weak-model`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import make_machine
from tests.live.installed import needed

TASKS = 20
LONGEST_S = 3600
SEED = os.environ.get("MILEPOST_WEAK_SEED", "7")
asked_for = pytest.mark.skipif(
    not os.environ.get("MILEPOST_WEAK_MODEL"), reason="takes minutes: tests/live/weak-model runs it"
)


@pytest.fixture
def port() -> Iterator[int]:
    program = [str(needed("weak-model")), str(Path(__file__).with_name("weak_model.py")), SEED]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as model:
        assert model.stdout is not None
        try:
            yield int(model.stdout.readline())
        finally:
            model.kill()


@asked_for
@pytest.mark.parametrize("agent", ["tool", "code"])
def test_a_model_that_talks_nonsense_ends_every_task_cleanly_and_none_as_done(
    agent: str, port: int, tmp_path: Path
) -> None:
    machine = make_machine(tmp_path)
    machine.write(
        "milepost.toml",
        f'[limits]\nattempts = 1\ntask_timeout_s = 120\n[model]\nname = "openai:weak"\n'
        f'base_url = "http://127.0.0.1:{port}/v1"\n',
    )
    machine.roadmap(
        "".join(
            f"- [ ] 1.{number} Write the sum of {number} and 1\n  - Verify: `grep -qx {number + 1} sum{number}.txt`\n"
            for number in range(1, TASKS + 1)
        )
    )

    with machine.start_cold("run", "--agent", agent, "--json", OPENAI_API_KEY="none") as run:
        stdout, stderr = run.communicate(timeout=LONGEST_S)

    assert run.returncode == 1, stderr
    assert "Traceback" not in stdout + stderr
    assert machine.mileposts() == []
    assert "[x]" not in (machine.repo / "ROADMAP.md").read_text()
    for number in range(1, TASKS + 1):
        assert f'"1.{number}"' in stdout, f"nothing is told of task 1.{number}"
    assert machine.git("status", "--porcelain", "--untracked-files=no") == ""
