"""Names of agents that reach what is private."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_other_files_and_the_program_itself_are_not(home: Path, tmp_path: Path) -> None:
    program = home / "python"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "agent.py").write_text("")
    assert not reaches_outside(f"command:{program} {tmp_path / 'agent.py'}")
    assert not reaches_outside("command:/usr/bin/env python3 agent.py --fast")
    assert not reaches_outside("claude")


def test_a_path_above_the_folder_is_outside(home: Path) -> None:
    assert reaches_outside("command:../agent.sh") and reaches_outside("replay:../x.json")
