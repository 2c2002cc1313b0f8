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


def test_every_path_outside_of_the_repository_is_outside_wherever_it_lies(home: Path) -> None:
    system = ("/etc/shadow", "/root/.ssh/id", "/proc/1/environ", "/", "/var/www/x", "/opt/x/key", "/dev/sda")
    for path in (home / "key", home, home.parent, *system, "/srv/key", "/mnt/a", "/media/a", "/data/a", "/new/a"):
        for words in (
            f"cp {path} a",
            f"tool --config={path}",
            f"tool -I{path}",
            f"env A={path} tool",
            f"tool '@x:{path}'",
        ):
            assert reaches_outside(f"command:{words}"), words
        assert reaches_outside(f"command:sh -c 'cat {path} > a.txt'"), path
        assert reaches_outside(f"command:sh -c 'sh -c \"cat <{path}>a.txt\"'"), path


@pytest.mark.parametrize(
    "words",
    ["sh -c 'cat ../key'", "cp ../../key a", "cp ~/key a", "tool --config=~/key", "curl file:///srv/key", "a .."],
)
def test_what_leads_above_or_home_is_outside_also_within_words(home: Path, words: str) -> None:
    assert reaches_outside(f"command:{words}")


def test_a_link_to_what_is_private_is_private(home: Path, tmp_path: Path) -> None:
    (home / "key").write_text("private\n")
    (tmp_path / "link").symlink_to(home / "key")
    assert reaches_outside(f"command:cp {tmp_path / 'link'} taken")


def test_programs_of_the_system_names_below_and_addresses_are_not(home: Path) -> None:
    inside = ("python3 agent.py --fast", "sh -c 'printf %s/x a/b > a.txt 2>/dev/null'", "git log HEAD~1..HEAD -- a/b")
    for words in (
        "/usr/bin/env python3 agent.py --fast",
        *inside,
        "tool --api=https://a.example/v1",
        "tool {prompt_file}",
    ):
        assert not reaches_outside(f"command:{words}"), words
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
