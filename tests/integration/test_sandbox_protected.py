"""`.git` and `.milepost` of the user's folders: read-only for every guest, and never among accepted changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from milepost.core.commands import Command, TrustLevel
from milepost.sandbox.levels import ladder, open_executor, open_terminal
from milepost.sandbox.walls import own_mounts

LEVELS = [
    pytest.param(
        report.level,
        marks=pytest.mark.skipif(not report.ok, reason=f"{report.level} is not available here: {report.detail}"),
    )
    for report in ladder()[1:]
]
needs_sandboxed = pytest.mark.skipif(
    not ladder()[-1].ok, reason=f"trust level 'sandboxed' is not available here: {ladder()[-1].detail}"
)

ATTACK = """
import os, shutil
def tried(call, *words, **more):
    try:
        call(*words, **more)
    except OSError as problem:
        print(problem)
def put(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write("evil")
for top in (".git", "inner/.git", ".milepost"):
    tried(put, top + "/hooks/post-commit")
    tried(put, top + "/config")
    tried(os.chmod, top + "/config", 0o777)
    tried(os.unlink, top + "/config")
    tried(os.truncate, top + "/config", 0)
    tried(os.rename, top, "away")
    tried(os.link, top + "/config", "second")
    tried(shutil.rmtree, top)
tried(os.rename, "inner", "moved")
for path in ("inner/.git/config", "new/.git/config", "new/.GIT/config", "new/.milepost/milepost.db"):
    tried(put, path)
tried(os.symlink, "new", "linked/.git")
put("src/honest")
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    for top in (".git", "inner/.git", ".milepost"):
        (folder / top / "hooks").mkdir(parents=True)
        (folder / top / "config").write_text("mine")
    for name in ("linked", "src"):
        (folder / name).mkdir()
    return folder


def require_unharmed(work: Path) -> None:
    inner = work / "moved" if (work / "moved").exists() else work / "inner"
    for top in (work / ".git", inner / ".git", work / ".milepost"):
        assert (top / "config").read_text() == "mine" and [*(top / "hooks").iterdir()] == []
    others = {path for path in work.rglob(".*") if path.name.casefold() in (".git", ".milepost")}
    assert others == {work / ".git", inner / ".git", work / ".milepost"}
    assert (work / "src/honest").read_text() == "evil"


@pytest.mark.parametrize("level", LEVELS)
def test_a_command_in_a_users_folder_changes_nothing_of_git_and_adds_none(
    level: TrustLevel, work: Path, tmp_path: Path
) -> None:
    with open_terminal(level) as terminal:
        done = terminal.run(Command(argv=(sys.executable, "-c", ATTACK), cwd=work, scratch=tmp_path / "scratch"))
    assert done.succeeded, done
    require_unharmed(work)
    assert [line for line in done.refused if "new/.git" in line] == [
        f"{work}/new/.git: nothing that runs in the sandbox may change .git or .milepost; "
        "what was put there is now 'git.refused-1'"
    ] or "no-shm" in done.enforced


@pytest.mark.parametrize("level", LEVELS)
def test_in_a_checkout_git_is_the_guests_own(level: TrustLevel, work: Path, tmp_path: Path) -> None:
    with open_terminal(level, in_checkouts=True) as terminal:
        written = ("sh", "-c", "echo theirs > .git/config && mkdir -p new/.git")
        assert terminal.run(Command(argv=written, cwd=work, scratch=tmp_path / "scratch")).succeeded
    assert (work / ".git/config").read_text() == "theirs\n" and (work / "new/.git").is_dir()


def test_code_at_isolated_that_works_in_a_folder_directly_changes_nothing_of_git(work: Path) -> None:
    with open_executor(TrustLevel.ISOLATED, workspace=work) as executor:
        executor.run(ATTACK)
    require_unharmed(work)


@needs_sandboxed
def test_changes_of_git_are_never_accepted(work: Path) -> None:
    for path in (work / "src/old/.git/config", work / "src/kept"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    gone = "tried(os.rename, 'src/kept', 'src/away')\ntried(shutil.rmtree, 'src/old')\n"
    with open_executor(TrustLevel.SANDBOXED, workspace=work) as executor:
        done = executor.run(ATTACK + gone)
        assert done.succeeded, done
        with executor.changes() as changes:
            refused = {str(change.path) for change in changes.accept(work)}
    assert {"new/.git", "new/.GIT/config", "new/.milepost/milepost.db"} <= refused
    assert (work / "src/old/.git/config").read_text() == "mine" and not (work / "src/kept").exists()
    assert (work / "src/away").read_text() == "mine"
    (work / "src/old/.git/config").unlink()
    (work / "src/old/.git").rmdir()
    require_unharmed(work)


def test_shared_memory_is_the_guests_own_and_nothing_of_it_stays(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    name = f"milepost-test-{os.getpid()}"
    secret = Path("/dev/shm", name)
    secret.write_text("of another process")
    code = f"""
import multiprocessing, os
assert {name!r} not in os.listdir('/dev/shm')
open('/dev/shm/{name}', 'w').write('changed')
open('/dev/shm/{name}-left', 'w').write('left')
with multiprocessing.get_context('fork').Lock(): print('locked')
try:
    with open('/dev/shm/big', 'wb') as big:
        while True: big.write(bytes(1 << 20))
except OSError as problem: print(problem.errno)
"""
    try:
        with open_terminal(TrustLevel.ISOLATED) as terminal:
            command = Command(argv=(sys.executable, "-c", code), cwd=tmp_path / "work", scratch=tmp_path / "scratch")
            done = terminal.run(command)
        if "private-shm" not in done.enforced:
            assert "no-shm" in done.enforced and "PermissionError" in done.stderr
            pytest.skip("this machine lets nobody mount, so there is no shared memory")
        assert done.stdout == "locked\n28\n", done
        assert secret.read_text() == "of another process" and not Path(f"{secret}-left").exists()
    finally:
        secret.unlink()


def test_what_can_be_mounted_is_found_out_without_leaving_the_host() -> None:
    before = Path("/proc/self/ns/mnt").readlink()
    found = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"], capture_output=True)
    assert own_mounts.can_be_had() or found.returncode != 0 or os.geteuid() == 0
    assert Path("/proc/self/ns/mnt").readlink() == before
