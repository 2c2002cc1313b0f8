"""What `init` finds and writes into the settings, and how it says that tests stand."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

import milepost
from milepost import machines
from milepost.cli.show.init import base_lines
from milepost.core.task import Plan, Task
from milepost.engine.commands.find_facts import Facts, find_facts
from milepost.engine.commands.init import settings_text
from milepost.engine.commands.look_at_base import BaseTests
from milepost.engine.planning.agent_to_name import agent_to_name


def test_languages_tests_lock_files_rules_and_agents_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "claude").write_text("#!/bin/sh\n")
    (bin_folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    top = tmp_path / "shop"
    (top / "api").mkdir(parents=True)
    (top / "api/go.mod").write_text("module shop\n")
    (top / "api/shop_test.go").write_text("package shop\n")
    found = find_facts(top, ("api/go.mod", "api/shop_test.go", "api/shop.go", "CLAUDE.md", "uv.lock"))
    assert found.lines() == (
        "languages: Go (2 files)",
        "tests: go test in api",
        "dependencies: uv",
        "rules for agents: CLAUDE.md",
        "agents that can work here: claude",
    )


def test_settings_say_what_was_found_and_name_the_agent_whatever_a_repository_is_called() -> None:
    hostile = Facts(suites=('go in a\n[agents.claude]\nprogram = "./evil"',), agents=("codex", "tool"))
    settings = tomllib.loads(settings_text(hostile, "codex", ("\n[sandbox]\n",)))
    assert settings == {"run": {"agent": "codex"}, "limits": {}, "sandbox": {}}
    nobody = settings_text(Facts(), "", ())
    assert tomllib.loads(nobody) == {"run": {}, "limits": {}} and '# agent = "claude"' in nobody
    assert "#   tests: none found: give each task a Verify line\n" in nobody


def test_a_red_base_is_told_with_its_tests_and_a_green_one_with_its_number() -> None:
    assert base_lines(BaseTests(tests=3, passed=3, took_s=1.0), 80) == ["tests  3 of 3 pass before any work, 1.0 s"]
    assert base_lines(BaseTests(tests=3, passed=2), 80) == ["tests  2 of 3 pass before any work, 1 is skipped"]
    red = BaseTests(tests=3, passed=2, problem="the base is red: 1 test fails\ncargo: not found")
    assert base_lines(red, 80) == ["tests  the base is red: 1 test fails", "       cargo: not found"]


def test_a_plan_names_an_agent_only_where_nothing_else_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    task = Task(id="1", title="Do it", status="open", line=1)
    assert agent_to_name(tmp_path / "ROADMAP.md", Plan(tasks=(task,), waves=(("1",),))) is None
    (tmp_path / "milepost.toml").write_text('[run]\nagent = "tool"\n')
    assert agent_to_name(tmp_path / "ROADMAP.md", Plan(tasks=(task,), waves=(("1",),))) == ""


def test_init_runs_the_tests_of_the_last_commit_once(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a(): ...\n\n\ndef test_b():\n    assert False\n")
    for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "x")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    milepost.init(tmp_path, agent="")
    standing = machines.base_tests(tmp_path)
    assert (standing.tests, standing.passed) == (2, 1)
    assert standing.problem.startswith("the base is red: 1 test fails of 2 before any work: test_a.py::test_b")
