"""Bad input gets one clear line and what to do; nothing is lost or half-written."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import places
from tests.e2e.conftest import Answer, Sandbox

ONE = "- [ ] 1.1 Write it\n  - write a.txt hello\n  - Verify: grep -q hello a.txt\n"


def refused(answer: Answer, *words: str) -> None:
    """One line that says what is wrong, at most one that says what to do, no traceback, nothing on stdout."""
    assert answer.code in (1, 2), answer.stdout
    lines = answer.stderr.strip().splitlines()
    assert 1 <= len(lines) <= 2, answer.stderr
    assert lines[0].startswith("error: ")
    for word in words:
        assert word in answer.stderr
    assert answer.stdout == ""


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_no_git_repository(sandbox: Sandbox, tmp_path: Path) -> None:
    bare = Sandbox(home=sandbox.home, repo=tmp_path / "plain", agent=sandbox.agent)
    bare.repo.mkdir()
    (bare.repo / "ROADMAP.md").write_text(ONE)
    before = everything(bare.repo)
    refused(bare.run(), "not in a git repository", "git init")
    assert everything(bare.repo) == before
    assert bare.milepost("plan").code == 0, "a plan needs no repository"


def test_a_repository_without_commits(sandbox: Sandbox, tmp_path: Path) -> None:
    empty = Sandbox(home=sandbox.home, repo=tmp_path / "empty", agent=sandbox.agent)
    empty.repo.mkdir()
    empty.git("init", "--quiet")
    (empty.repo / "ROADMAP.md").write_text(ONE)
    refused(empty.run(), "no commit")
    assert not places.state(empty.repo).exists()


@pytest.mark.parametrize("command", ["plan", "run", "status", "resume", "log", "stop"])
def test_no_roadmap(sandbox: Sandbox, command: str) -> None:
    refused(sandbox.milepost(command), "ROADMAP.md", "milepost init")
    assert not places.state(sandbox.repo).exists()


@pytest.mark.parametrize("content", [b"\x00\x01binary", b"- [ ] caf\xe9\n"], ids=["binary", "latin-1"])
@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_roadmap_that_is_not_text(sandbox: Sandbox, command: str, content: bytes) -> None:
    (sandbox.repo / "ROADMAP.md").write_bytes(content)
    sandbox.commit()
    before = everything(sandbox.repo)
    refused(sandbox.milepost(command))
    assert everything(sandbox.repo) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_roadmap_that_may_not_be_read(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    (sandbox.repo / "ROADMAP.md").chmod(0)
    refused(sandbox.run(), "cannot be read")


def test_a_roadmap_that_is_a_folder(sandbox: Sandbox) -> None:
    (sandbox.repo / "ROADMAP.md").mkdir()
    refused(sandbox.run(), "ROADMAP.md")


def test_a_cycle_in_dependencies(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 A\n  - Depends on: 1.2\n- [ ] 1.2 B\n  - Depends on: 1.1\n")
    before = everything(sandbox.repo)
    refused(sandbox.run(), "1.1", "1.2", "→")
    plan = sandbox.milepost("plan")
    assert plan.code == 1 and "→" in plan.stdout
    assert everything(sandbox.repo) == before


def test_a_dependency_that_nobody_has(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 A\n  - Depends on: 7.7\n")
    refused(sandbox.run(), "7.7")


def test_a_roadmap_without_tasks(sandbox: Sandbox) -> None:
    sandbox.roadmap("# Nothing here\n")
    refused(sandbox.run(), "no task")


def test_a_roadmap_that_is_not_committed(sandbox: Sandbox) -> None:
    sandbox.write("ROADMAP.md", ONE)
    refused(sandbox.run(), "not committed", "git add ROADMAP.md")
    sandbox.commit()
    sandbox.write("ROADMAP.md", ONE + "- [ ] 1.2 More\n")
    refused(sandbox.run(), "changes that are not committed")
    assert not places.state(sandbox.repo).exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run",), "no agent is set"),
        (("run", "--agent", "nobody"), "nobody"),
        (("run", "--agent", "acp:nobody"), "there is no agent 'acp:nobody'"),
        (("run", "--agent", "acp:claude"), "there is no agent 'acp:claude': use 'claude'"),
        (("run", "--agent", "command:no-such-program-anywhere"), "no-such-program-anywhere"),
        (("run", "--agent", "replay:missing.json"), "missing.json"),
        (("run", "--agent", "command:true", "--task", "9.9"), "9.9"),
        (("run", "--agent", "command:true", "--trust", "local"), "local"),
        (("run", "--agent", "command:true", "--trust", "bogus"), "trust"),
        (("undo", "1.1"), "no milepost"),
        (("exec", "missing.py"), "missing.py"),
        (("exec", "--trust", "local", "--lang", "typescript", "ROADMAP.md"), "local"),
        (("exec", "--lang", "ruby", "ROADMAP.md"), "ruby"),
        (("exec", "--workspace", "no-such-folder", "ROADMAP.md"), "no-such-folder"),
        (("exec", "--accept", "ROADMAP.md"), "--workspace"),
        (("exec", "--diff", "--workspace", ".", "--trust", "isolated", "ROADMAP.md"), "sandboxed"),
        (("exec", "--container", "podman", "ROADMAP.md"), "image"),
        (("exec", "--container", "lxc", "--image", "x", "ROADMAP.md"), "lxc"),
    ],
)
def test_words_that_mean_nothing_here(sandbox: Sandbox, words: tuple[str, ...], told: str) -> None:
    sandbox.roadmap(ONE)
    refused(sandbox.milepost(*words), told)
    assert not (places.database(sandbox.repo)).exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[run\n", "not valid TOML"),
        ("[run]\nparallel = 0\n", "run.parallel"),
        ("[run]\nbudget = 5.0\n", "run.budget"),
        ("run = 3\n", "run"),
        ('[agents.command]\nenv_from = ["NOT_SET_ANYWHERE"]\n', "NOT_SET_ANYWHERE"),
    ],
)
def test_settings_that_cannot_be_used(sandbox: Sandbox, text: str, told: str) -> None:
    sandbox.write("milepost.toml", text)
    sandbox.roadmap(ONE)
    refused(sandbox.run(), told)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; the read-only mount below stands in")
def test_a_folder_that_may_not_be_written(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    sandbox.repo.chmod(0o555)
    try:
        refused(sandbox.run(), "cannot be written")
    finally:
        sandbox.repo.chmod(0o755)


def mounted(kind: str, place: Path, *options: str) -> bool:
    return subprocess.run(["mount", "-t", kind, *options, kind, str(place)], capture_output=True).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_read_only_file_system(sandbox: Sandbox, tmp_path: Path) -> None:
    place = tmp_path / "mount"
    place.mkdir()
    if not mounted("tmpfs", place, "-o", "size=20m"):
        pytest.skip("this machine does not let a tmpfs be mounted")
    try:
        shutil.copytree(sandbox.repo, place / "repo", symlinks=True)
        there = Sandbox(home=sandbox.home, repo=place / "repo", agent=sandbox.agent)
        there.roadmap(ONE)
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        before = everything(there.repo)
        refused(there.run(), "Read-only file system")
        assert everything(there.repo) == before
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_memory_that_can_only_be_read_is_not_called_damaged(sandbox: Sandbox, tmp_path: Path) -> None:
    place = tmp_path / "mount"
    place.mkdir()
    if not mounted("tmpfs", place, "-o", "size=20m"):
        pytest.skip("this machine does not let a tmpfs be mounted")
    try:
        shutil.copytree(sandbox.repo, place / "repo", symlinks=True)
        there = Sandbox(home=sandbox.home, repo=place / "repo", agent=sandbox.agent)
        assert there.milepost("memory", "start", "Mend it").code == there.milepost("memory", "search", "it").code == 0
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        looked = there.milepost("memory", "doctor")
        assert looked.code == 0 and "no problems found" in looked.stdout
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize("free_kb", [0, 64, 400, 650])
def test_a_full_disk(sandbox: Sandbox, tmp_path: Path, free_kb: int) -> None:
    place = tmp_path / "mount"
    place.mkdir()
    if not mounted("tmpfs", place, "-o", "size=8m"):
        pytest.skip("this machine does not let a tmpfs be mounted")
    try:
        shutil.copytree(sandbox.repo, place / "repo", symlinks=True)
        there = Sandbox(home=sandbox.home, repo=place / "repo", agent=sandbox.agent)
        there.roadmap(ONE)
        head = there.git("rev-parse", "HEAD")
        filler = place / "filler"
        fill(filler, shutil.disk_usage(place).free - free_kb * 1024)
        answer = there.run()
        assert answer.code == 1, answer.stdout
        assert "Traceback" not in answer.stderr
        errors = [line for line in answer.stderr.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, answer.stderr
        filler.unlink()
        assert there.git("rev-parse", "HEAD") == head
        assert there.git("status", "--porcelain") == ""
        again = there.run()
        assert again.code == 0, again.stderr
        assert there.mileposts() == ["1.1"]
        assert there.git("fsck", "--no-dangling") == ""
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(path: Path, size: int) -> None:
    with path.open("wb") as file:
        for _ in range(max(0, size) // 4096):
            file.write(bytes(4096))
