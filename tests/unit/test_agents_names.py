"""The names of agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.agents.command import CommandAgent
from milepost.agents.names import AgentSetup, agent_named
from milepost.agents.patterns.agent import PatternAgent
from milepost.agents.replay import ReplayAgent
from milepost.core.errors import AgentUnknown, MilepostError, SettingInvalid


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_command_is_split_as_a_shell_would_and_its_program_starts_from_the_roadmaps_folder(tmp_path: Path) -> None:
    script = program(tmp_path / "tools" / "agent.sh")

    agent = agent_named("command:./tools/agent.sh 'two words' $HOME *", folder=tmp_path)

    assert agent == CommandAgent(argv=(str(script), "two words", "$HOME", "*"))


def test_a_bare_program_keeps_its_name_and_takes_what_the_settings_add(tmp_path: Path) -> None:
    agent = agent_named(" command: sh -c : ", folder=tmp_path, setup=AgentSetup(env={"KEY": "x"}, args=("--more",)))

    assert agent == CommandAgent(argv=("sh", "-c", ":", "--more"), env={"KEY": "x"})


def test_a_bare_program_is_looked_for_on_the_path_that_the_settings_give(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "my-agent")
    setup = AgentSetup(env={"PATH": str(tmp_path / "bin")})

    assert isinstance(agent_named("command:my-agent", folder=tmp_path, setup=setup), CommandAgent)


def test_a_pattern_and_a_replay_are_found(tmp_path: Path) -> None:
    (tmp_path / "tape one.json").write_text('{"version": 1, "answers": {}}')

    assert isinstance(agent_named("pattern:module_creation", folder=tmp_path), PatternAgent)
    assert isinstance(agent_named("replay:tape one.json", folder=tmp_path), ReplayAgent)


@pytest.mark.parametrize("name", ["tool", "code", "claude", "codex", "aider", "acp:gemini"])
def test_an_agent_of_a_later_version_says_what_there_is_now(name: str, tmp_path: Path) -> None:
    with pytest.raises(AgentUnknown, match="not available in this version") as refusal:
        agent_named(name, folder=tmp_path)

    assert all(kind in refusal.value.advice for kind in ("command:ARGV", "pattern:NAME", "replay:FILE"))


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("", AgentUnknown, "no agent ''"),
        ("gpt", AgentUnknown, "no agent 'gpt'"),
        ("commander:x", AgentUnknown, "no agent 'commander:x'"),
        ("command", AgentUnknown, "nothing after 'command:'"),
        ("command:  ", AgentUnknown, "nothing after 'command:'"),
        ("command:'' x", AgentUnknown, "names no program"),
        ("command:sh 'x", AgentUnknown, "cannot be split"),
        ("command:no-such-program-anywhere", AgentUnknown, "not on PATH"),
        ("command:./missing", AgentUnknown, "no program '/.*/missing'"),
        ("command:./folder", AgentUnknown, "no program"),
        ("command:./text", AgentUnknown, "may not be executed"),
        ("pattern:poetry", AgentUnknown, "no pattern 'poetry'"),
        ("replay:missing.json", SettingInvalid, "cannot be read"),
        ("replay:folder", SettingInvalid, "cannot be read"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(
    name: str, error: type[MilepostError], says: str, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("no program")

    with pytest.raises(error, match=says) as refusal:
        agent_named(name, folder=tmp_path)

    assert refusal.value.advice
