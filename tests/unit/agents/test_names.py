"""The names of agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from milepost.agents.code_agent.agent import CodeAgent
from milepost.agents.command import CommandAgent
from milepost.agents.models.live import ModelSetup
from milepost.agents.names import AgentSetup, agent_named
from milepost.agents.patterns.agent import PatternAgent
from milepost.agents.programs.driver import ProgramSetup
from milepost.agents.programs.registry import program_named
from milepost.agents.replay.replay import ReplayAgent
from milepost.agents.tool_agent.agent import ToolAgent
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
    agent = agent_named(
        " command: sh -c : ",
        folder=tmp_path,
        setup=AgentSetup(program=ProgramSetup(env={"KEY": "x"}, args=("--more",))),
    )

    assert agent == CommandAgent(argv=("sh", "-c", ":", "--more"), env={"KEY": "x"})


def test_a_bare_program_is_looked_for_on_the_path_that_the_settings_give(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "my-agent")
    setup = AgentSetup(program=ProgramSetup(env={"PATH": str(tmp_path / "bin")}))

    assert isinstance(agent_named("command:my-agent", folder=tmp_path, setup=setup), CommandAgent)


def test_a_pattern_and_a_replay_are_found(tmp_path: Path) -> None:
    (tmp_path / "tape one.json").write_text('{"version": 1, "answers": {}}')

    assert isinstance(agent_named("pattern:module_creation", folder=tmp_path), PatternAgent)
    assert isinstance(agent_named("replay:tape one.json", folder=tmp_path), ReplayAgent)


@pytest.mark.parametrize("name", ["claude", "codex", "aider", "acp:gemini"])
def test_a_program_that_is_not_here_says_so_before_anything_is_started(name: str, tmp_path: Path) -> None:
    with pytest.raises(AgentUnknown, match=r"cannot work here: the program .* is not on PATH") as refusal:
        agent_named(name, folder=tmp_path, setup=AgentSetup(program=ProgramSetup(env={"PATH": str(tmp_path)})))

    assert f'[agents."{name}"]' in refusal.value.advice


def test_a_program_is_found_and_given_its_own_key_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-of-claude")
    monkeypatch.setenv("OPENAI_API_KEY", "k-of-somebody-else")
    setup = ProgramSetup(env={"PATH": str(program(tmp_path / "bin" / "claude").parent)})

    agent = program_named("claude", setup)

    agent.require()
    assert agent.hosts[0] == "api.anthropic.com"
    assert agent.setup.env == {"ANTHROPIC_API_KEY": "k-of-claude", **setup.env}


def test_a_program_that_is_not_signed_in_says_so_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for key in ("CODEX_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    setup = ProgramSetup(env={"PATH": str(program(tmp_path / "bin" / "codex").parent)})

    with pytest.raises(AgentUnknown, match="is not signed in") as refusal:
        agent_named("codex", folder=tmp_path, setup=AgentSetup(program=setup))

    assert "OPENAI_API_KEY" in refusal.value.advice
    agent_named("codex", folder=tmp_path, setup=AgentSetup(program=replace(setup, base_url="http://127.0.0.1:1/v1")))


@pytest.mark.parametrize(("name", "what"), [("acp:nobody", "no agent 'acp:nobody'"), ("acp:", "no agent 'acp:'")])
def test_a_program_that_nobody_knows_is_told_from_one_that_is_not_here(name: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(AgentUnknown, match=what):
        agent_named(name, folder=tmp_path)


def test_the_tool_agent_asks_the_model_that_the_settings_name_with_the_key_they_give(tmp_path: Path) -> None:
    model = ModelSetup(name="anthropic:claude-sonnet-4-5")
    setup = AgentSetup(model=model, program=ProgramSetup(env={"ANTHROPIC_API_KEY": "k-123456789"}))

    agent = agent_named("tool", folder=tmp_path, setup=setup)

    assert isinstance(agent, ToolAgent) and agent.price_known


@pytest.mark.parametrize(
    ("model", "known"),
    [
        (ModelSetup(name="openai:gpt-5", base_url="http://127.0.0.1:1/v1"), True),
        (ModelSetup(name="openai:nobody-knows-it", base_url="http://127.0.0.1:1/v1"), False),
        (ModelSetup(name="openai:own", base_url="http://127.0.0.1:1/v1", input_usd_per_mtok=0), False),
        (
            ModelSetup(
                name="openai:own", base_url="http://127.0.0.1:1/v1", input_usd_per_mtok=0, output_usd_per_mtok=0
            ),
            True,
        ),
    ],
)
def test_whether_a_price_is_known_can_be_asked_before_anything_is_paid(
    model: ModelSetup, known: bool, tmp_path: Path
) -> None:
    agent = agent_named("tool", folder=tmp_path, setup=AgentSetup(model=model))

    assert isinstance(agent, ToolAgent) and agent.price_known is known


@pytest.mark.parametrize(
    ("name", "model", "error", "says"),
    [
        ("tool", ModelSetup(), SettingInvalid, "no model is named"),
        ("tool:x", ModelSetup(name="openai:x"), AgentUnknown, "takes nothing after its name, not 'x'"),
        ("tool", ModelSetup(name="gpt-5"), SettingInvalid, "'gpt-5', not provider:model"),
        ("tool", ModelSetup(name="nobody:gpt"), SettingInvalid, "there is no provider 'nobody'"),
        ("tool", ModelSetup(name="anthropic:claude-x"), SettingInvalid, "ANTHROPIC_API_KEY is not set"),
        ("tool", ModelSetup(name="openai:gpt-5"), SettingInvalid, "OPENAI_API_KEY is not set"),
        ("tool", ModelSetup(name="groq:llama"), AgentUnknown, "needs a library that is not installed"),
    ],
)
def test_a_model_that_cannot_work_is_refused_before_anything_runs(
    name: str,
    model: ModelSetup,
    error: type[MilepostError],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)

    with pytest.raises(error, match=says) as refusal:
        agent_named(name, folder=tmp_path, setup=AgentSetup(model=model))

    assert refusal.value.advice and "\n" not in refusal.value.message


def test_without_its_library_the_tool_agent_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milepost.agents.models.providers.find_spec", lambda _: None)

    with pytest.raises(AgentUnknown, match="not installed") as refusal:
        agent_named("tool", folder=tmp_path, setup=AgentSetup(model=ModelSetup(name="openai:gpt-5")))

    assert refusal.value.advice == "pip install 'milepost[models]'"


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("", AgentUnknown, "no agent ''"),
        ("gpt", AgentUnknown, "no agent 'gpt'"),
        ("commander:x", AgentUnknown, "no agent 'commander:x'"),
        ("command", AgentUnknown, "needs something after 'command:'"),
        ("command:  ", AgentUnknown, "needs something after 'command:'"),
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


LOCAL = ModelSetup(name="openai:own", base_url="http://127.0.0.1:1/v1")
PRICED = ModelSetup(name="openai:own", base_url="http://127.0.0.1:1/v1", input_usd_per_mtok=1, output_usd_per_mtok=2)


@pytest.mark.parametrize("name", ["tool", "code"])
@pytest.mark.parametrize(
    ("program", "says"),
    [
        (ProgramSetup(program="/bin/x"), "takes no program"),
        (ProgramSetup(model="gpt-5", args=("-x",)), "takes no args, model"),
        (ProgramSetup(base_url="http://127.0.0.1:1"), "takes no base_url"),
    ],
)
def test_our_own_agents_refuse_what_only_a_program_can_use(
    name: str, program: ProgramSetup, says: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingInvalid, match=rf"\[agents.{name}\] {says}") as refusal:
        agent_named(name, folder=tmp_path, setup=AgentSetup(model=PRICED, program=program))

    assert "[model]" in refusal.value.advice


@pytest.mark.parametrize("name", ["tool", "code"])
def test_a_bound_in_money_reaches_our_own_agents_and_needs_a_price(name: str, tmp_path: Path) -> None:
    bound = ProgramSetup(max_usd=1.5)

    agent = agent_named(name, folder=tmp_path, setup=AgentSetup(model=PRICED, program=bound))
    assert isinstance(agent, ToolAgent | CodeAgent) and agent.max_usd == 1.5
    with pytest.raises(SettingInvalid, match=rf"max_usd of \[agents.{name}\] cannot be enforced") as refusal:
        agent_named(name, folder=tmp_path, setup=AgentSetup(model=LOCAL, program=bound))
    assert "input_usd_per_mtok" in refusal.value.advice


def test_a_bound_in_money_of_a_program_needs_a_price_too(tmp_path: Path) -> None:
    path = str(program(tmp_path / "bin" / "codex").parent)
    bound = ProgramSetup(env={"PATH": path, "CODEX_API_KEY": "k-123456789"}, max_usd=1)

    agent_named("codex", folder=tmp_path, setup=AgentSetup(program=replace(bound, model="gpt-5")))
    with pytest.raises(SettingInvalid, match=r"max_usd of \[agents.codex\] cannot be enforced"):
        agent_named("codex", folder=tmp_path, setup=AgentSetup(program=bound))
