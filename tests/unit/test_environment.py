"""What the tests are started with reaches none of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.environment import settle


def test_a_repository_a_colour_and_a_width_are_forgotten_and_all_else_stays() -> None:
    environ = {"GIT_DIR": "/repository/.git", "NO_COLOR": "1", "COLUMNS": "20", "PATH": "/bin", "GIT_SSH": "ssh"}
    settle(environ)
    assert environ == {"PATH": "/bin", "GIT_SSH": "ssh"}


def test_tests_that_a_hook_of_git_starts_know_nothing_of_its_repository() -> None:
    code = "import os, tests.conftest; print('GIT_DIR' in os.environ, oct(os.umask(0)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"GIT_DIR": "/nowhere"},
        umask=0o077,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["False", "0o22"], done.stderr
