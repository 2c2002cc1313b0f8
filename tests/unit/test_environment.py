"""What the tests are started with reaches none of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.environment import NO_SETTINGS_OF_GIT, settle

ROOT = Path(__file__).parents[2]


def test_a_repository_a_colour_and_a_width_are_forgotten_and_all_else_stays() -> None:
    environ = {"GIT_DIR": "/repository/.git", "NO_COLOR": "1", "COLUMNS": "20", "PATH": "/bin", "GIT_SSH": "ssh"}
    settle(environ)
    assert environ == {"PATH": "/bin", "GIT_SSH": "ssh"} | NO_SETTINGS_OF_GIT


def test_what_the_users_git_is_set_to_reaches_no_repository_of_a_test(tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\nname = Somebody\n[init]\ndefaultBranch = trunk\n")
    code = "import subprocess, tests.conftest; subprocess.run(['git', 'config', '--list', '--name-only'], cwd='/')"
    told = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
        ).stdout.split()
        for program in (code.replace(", tests.conftest", ""), code)
    ]
    assert "user.name" in told[0] and told[1] == []


def test_python_keeps_what_it_compiled_however_the_tests_were_started() -> None:
    code = "import os, sys, tests.conftest; print(sys.dont_write_bytecode, 'PYTHONDONTWRITEBYTECODE' in os.environ)"
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_tests_that_a_hook_of_git_starts_know_nothing_of_its_repository() -> None:
    code = "import os, tests.conftest; print('GIT_DIR' in os.environ, oct(os.umask(0)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"GIT_DIR": "/nowhere"},
        umask=0o077,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["False", "0o22"], done.stderr
