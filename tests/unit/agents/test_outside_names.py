"""Names of agents that reach what is private."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.agents.command import readable_paths
from milepost.agents.outside_names import reaches_outside


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "someone"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_what_is_in_a_home_or_of_the_system_is_private(home: Path) -> None:
    (home / "key").write_text("private\n")
    for path in (home / "key", home, home.parent, "/etc/shadow", "/root/.ssh/id", "/proc/1/environ", "/"):
        assert reaches_outside(f"command:cp {path} taken"), path
        assert reaches_outside(f"command:tool --config={path}"), path


def test_a_link_to_what_is_private_is_private(home: Path, tmp_path: Path) -> None:
    (home / "key").write_text("private\n")
    (tmp_path / "link").symlink_to(home / "key")
    assert reaches_outside(f"command:cp {tmp_path / 'link'} taken")


def test_other_files_and_programs_of_the_system_are_not(home: Path, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("")
    assert not reaches_outside(f"command:python3 {tmp_path / 'agent.py'}")
    assert not reaches_outside("command:/usr/bin/env python3 agent.py --fast")
    assert not reaches_outside("claude")


def test_a_program_by_its_path_is_outside_though_it_can_be_started(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = home / "repository"
    repository.mkdir()
    monkeypatch.chdir(repository)
    for program in (home / "run.sh", repository / "run.sh"):
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (repository / "link.sh").symlink_to(home / "run.sh")
    (repository / "tools").symlink_to(home)
    (repository / "tape.json").symlink_to(home / "run.sh")
    for named in ("../run.sh", str(home / "run.sh"), "./link.sh", "tools/run.sh", "~/run.sh"):
        assert reaches_outside(f"command:{named}"), named
    assert reaches_outside("replay:tape.json")
    assert not reaches_outside("command:./run.sh") and not reaches_outside("command:run.sh")
    assert readable_paths(("./link.sh",)) == readable_paths(("tools/run.sh",)) == ()


def test_a_path_above_the_folder_is_outside(home: Path) -> None:
    assert reaches_outside("command:../agent.sh") and reaches_outside("replay:../x.json")
