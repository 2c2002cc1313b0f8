"""Shims of toolchains work in the sandbox, where HOME is not the user's; outside of it no repository directs them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from milepost.core.commands import Command
from milepost.engine.commands.doctor import examine
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.suites.python_project import _behind, find_interpreter
from milepost.workspace.repository import Repository, files_here

SHIM = '#!/bin/sh\nexec "${ASDF_DATA_DIR:-$HOME/.asdf}/installs/tool/$(cat "$HOME/.tool-versions")/bin/tool" "$@"\n'


def test_a_shim_finds_the_version_that_the_user_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, checkout = tmp_path / "users" / "me", tmp_path / "checkout"
    checkout.mkdir()
    _program(home / ".asdf/installs/tool/1.2/bin/tool", "#!/bin/sh\necho version 1.2\n")
    shim = _program(home / ".asdf/shims/tool", SHIM)
    (home / ".tool-versions").write_text("1.2\n")
    (home / ".ssh").mkdir()
    (tmp_path / "linked").symlink_to(home)
    monkeypatch.setenv("PATH", f"{shim.parent}:/usr/bin:/bin")
    for users in (home, tmp_path / "linked"):
        with WalledTerminal(home=users) as terminal:
            scratch = tmp_path / f"scratch-{users.name}"
            done = terminal.run(Command(argv=("tool",), cwd=checkout, scratch=scratch))
            assert (done.stdout, done.stderr) == ("version 1.2\n", "")
            assert not terminal.run(Command(argv=("ls", str(home / ".ssh")), cwd=checkout, scratch=scratch)).succeeded


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


CHOOSING = """#!/bin/sh
# As asdf and mise do: a file of the folder, or of one above, says which program is started.
folder=$PWD
while [ "$folder" != / ] && [ ! -f "$folder/.tool-versions" ]; do folder=$(dirname "$folder"); done
if [ -f "$folder/.tool-versions" ]; then exec "$folder/$(cat "$folder/.tool-versions")" "$@"; fi
exec {real} "$@"
"""


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """A repository whose `.tool-versions` has shims start a program of its own, and the user in it."""
    made = Trap(repository=tmp_path / "repository", sprung=tmp_path / "sprung")
    _program(made.repository / "evil", f'#!/bin/sh\ntouch {made.sprung}\nexec {sys.executable} "$@"\n')
    (made.repository / ".tool-versions").write_text("evil")
    shims = tmp_path / "shims"
    for name in ("python3", "git", "deno"):
        real = sys.executable if name == "python3" else shutil.which(name) or "/bin/true"
        _program(shims / name, CHOOSING.replace("{real}", real))
    subprocess.run([shutil.which("git") or "git", "init", "--quiet", str(made.repository)], check=True)
    monkeypatch.setenv("PATH", f"{shims}:/usr/bin:/bin")
    monkeypatch.chdir(made.repository)
    return made


@dataclass(frozen=True)
class Trap:
    repository: Path
    sprung: Path


def test_no_interpreter_is_started_outside_the_walls_that_a_file_of_the_repository_chose(trap: Trap) -> None:
    found = find_interpreter(trap.repository, os.environ)
    assert found is not None and found.path.name == "python3"
    assert not trap.sprung.exists()
    (trap.repository / ".tool-versions").unlink()
    _behind.cache_clear()
    assert find_interpreter(trap.repository, os.environ) != found  # the real one, as nothing here chooses another


def test_a_link_in_the_repository_starts_no_script_of_the_user(trap: Trap, tmp_path: Path) -> None:
    deploy = _program(tmp_path / "bin/deploy", f"#!/bin/sh\ntouch {trap.sprung}\n")
    (trap.repository / ".venv/bin").mkdir(parents=True)
    (trap.repository / ".venv/bin/python").symlink_to(deploy)
    find_interpreter(trap.repository, os.environ)
    assert not trap.sprung.exists()


def test_neither_git_nor_the_doctor_start_what_a_file_of_the_repository_chose(trap: Trap) -> None:
    repository = Repository.find(trap.repository)
    repository.on_tree("status")
    assert files_here(trap.repository) is not None
    examine(trap.repository)
    assert not trap.sprung.exists()
