"""How agent programs are started, as data, and what they must see of the machine."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.agents.programs.agent import ProgramAgent
from milepost.agents.programs.aider import Aider, provider_of
from milepost.agents.programs.aider_shim import _left_undone
from milepost.agents.programs.claude import Claude
from milepost.agents.programs.codex import Codex
from milepost.agents.programs.driver import Driver, Job, ProgramSetup
from milepost.agents.programs.visible_paths import needed_paths
from milepost.agents.prompts import filled

KEY = "sk-very-secret"
JOB = Job(prompt="Do it. " * 30_000, folder=Path("/repo"), home=Path("/home/of/it"), files=("a.py",))
SETUP = ProgramSetup(model="m-1", base_url="http://127.0.0.1:9/v1", max_turns=7, max_usd=1.5, args=("--more",))


def test_claude_is_started_with_an_allow_list_and_the_bounds() -> None:
    made = Claude().invocation("/bin/claude", JOB, replace(SETUP, clean=True))
    assert not made.files
    assert made.argv == (
        *("/bin/claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "dontAsk"),
        *("--allowedTools", "Bash,Read,Edit,Write,Glob,Grep,NotebookEdit,TodoWrite,Task"),
        *("--setting-sources", "", "--strict-mcp-config", "--model", "m-1"),
        *("--max-turns", "7", "--max-budget-usd", "1.5000", "--more"),
    )
    assert made.stdin == JOB.prompt
    assert made.env["ANTHROPIC_BASE_URL"] == SETUP.base_url
    assert made.env["CLAUDE_CONFIG_DIR"] == "/home/of/it/.claude"
    assert made.env["CLAUDE_CODE_MAX_RETRIES"] == "2"
    resumed = Claude().invocation(
        "claude", Job(prompt="", folder=JOB.folder, home=JOB.home, session="s-1"), ProgramSetup()
    )
    assert resumed.argv[-2:] == ("--resume", "s-1")
    assert "ANTHROPIC_BASE_URL" not in resumed.env


def test_claude_is_started_with_the_settings_of_its_user_and_the_repository_and_ours_over_them() -> None:
    """No settings of a repository change whom it asks, with whose key, or how often it tries."""
    far = {"url": "https://far.example", "headers": {"x": KEY}}
    servers = {"mcpServers": {"my docs": {"command": "docs"}, "far": far}}
    job = replace(
        JOB, projects={".mcp.json": '{"mcpServers": {"look": {}}}'}, users={".claude.json": json.dumps(servers)}
    )
    made = Claude().invocation("claude", job, ProgramSetup(env={"ANTHROPIC_API_KEY": KEY}))
    assert made.argv[made.argv.index("--allowedTools") + 1].endswith(",Task,Skill,mcp__look,mcp__my_docs")
    assert "--setting-sources" not in made.argv and "--strict-mcp-config" not in made.argv
    assert made.argv[made.argv.index("--settings") + 1] == "/home/of/it/.claude/of-milepost.json"
    ours = json.loads(made.files[".claude/of-milepost.json"])
    assert ours["sandbox"] == {"enabled": False}
    assert ours["env"]["ANTHROPIC_BASE_URL"] == "https://api.anthropic.com"
    assert ours["env"]["CLAUDE_CODE_MAX_RETRIES"] == "2"
    assert json.loads(made.files[".claude/servers-of-user.json"]) == {"mcpServers": {"my docs": {"command": "docs"}}}
    assert made.given[0] == "MCP servers: look, my docs" and made.given[1].startswith("not given: far (")
    named = Claude().invocation("claude", job, ProgramSetup(servers=("far",)))
    assert KEY in named.files[".claude/servers-of-user.json"] and KEY not in " ".join(named.argv)


@pytest.mark.parametrize("says", ['{"env": {"ANTHROPIC_BASE_URL": "http://h"}}', '{"apiKeyHelper": "./key"}'])
def test_settings_of_a_repository_that_say_whom_claude_asks_are_not_taken(says: str) -> None:
    made = Claude().invocation("claude", replace(JOB, projects={".claude/settings.json": says}), ProgramSetup())
    assert made.argv[made.argv.index("--setting-sources") + 1] == "user"
    assert made.given[0].startswith("not given: settings and CLAUDE.md of the repository, which set ")


def test_codex_asks_the_model_of_its_user_and_takes_no_more_of_their_config() -> None:
    users = 'model = "m-2"\nmodel_reasoning_effort = "high"\n[mcp_servers.x.env]\nKEY = "k"\n'
    job = replace(JOB, users={".codex/config.toml": users})
    made = tomllib.loads(Codex().invocation("codex", job, ProgramSetup()).files[".codex/config.toml"])
    assert (made["model"], made["model_reasoning_effort"]) == ("m-2", "high") and "mcp_servers" not in made
    clean = tomllib.loads(Codex().invocation("codex", job, ProgramSetup(clean=True)).files[".codex/config.toml"])
    assert "model" not in clean and clean["project_doc_max_bytes"] == 0


def test_codex_gets_all_it_must_know_in_its_own_config() -> None:
    setup = ProgramSetup(model='m"1', base_url=SETUP.base_url, env={"OPENAI_API_KEY": KEY}, args=("-c", "x=1"))
    made = Codex().invocation("/bin/codex", JOB, setup)
    assert made.argv == ("/bin/codex", "exec", "--json", "--skip-git-repo-check", "-c", "x=1", "-")
    assert made.env == {"CODEX_HOME": "/home/of/it/.codex"}
    config = tomllib.loads(made.files[".codex/config.toml"])
    assert (config["model"], config["approval_policy"], config["sandbox_mode"]) == (
        'm"1',
        "never",
        "danger-full-access",
    )
    assert config["model_providers"][config["model_provider"]] == {
        "name": "milepost",
        "base_url": SETUP.base_url,
        "env_key": "OPENAI_API_KEY",
        "wire_api": "responses",
        "request_max_retries": 2,
        "stream_max_retries": 2,
        "stream_idle_timeout_ms": 240_000,
    }
    assert config["features"] == {"plugins": False, "unbounded_connection_retries": False}
    resumed = Codex().invocation(
        "codex", Job(prompt="", folder=JOB.folder, home=JOB.home, session="s-1"), ProgramSetup()
    )
    assert resumed.argv[1:4] == ("exec", "resume", "s-1")
    assert "model_provider" not in tomllib.loads(resumed.files[".codex/config.toml"])


def test_aider_is_run_by_its_own_python_with_our_shim_in_its_home(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/aider").touch()
    setup = ProgramSetup(model="anthropic/m-1", base_url=SETUP.base_url, args=("--edit-format", "diff"))
    made = Aider("anthropic/m-1").invocation(str(tmp_path / "bin/aider"), JOB, setup)
    assert made.argv == (str(tmp_path / "bin/python"), "-I", "/home/of/it/aider_shim.py")
    assert made.env == {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "ANTHROPIC_API_BASE": SETUP.base_url}
    order = json.loads(made.stdin)
    assert (order["prompt"], order["files"]) == (JOB.prompt, ["a.py"])
    assert order["argv"][-4:] == ["--model", "anthropic/m-1", "--edit-format", "diff"]
    assert _left_undone.__name__ in made.files["aider_shim.py"]


@pytest.mark.parametrize("driver", [Claude(), Codex(), Aider("openai/m-1")], ids=lambda driver: str(driver.name))
def test_neither_a_key_nor_the_prompt_is_in_the_words_or_the_files(driver: Driver) -> None:
    setup = ProgramSetup(model="openai/m-1", base_url="http://h", env=dict.fromkeys(driver.capabilities().keys, KEY))
    made = driver.invocation("program", JOB, setup)
    open_to_all = json.dumps([made.argv, dict(made.files)])
    assert KEY not in open_to_all
    assert "Do it. Do it." not in open_to_all
    assert "Do it. Do it." in made.stdin and len(made.stdin) > 200_000


@pytest.mark.parametrize(
    ("model", "provider", "key"),
    [
        ("openai/gpt-5", "openai", "OPENAI_API_KEY"),
        ("gpt-5", "openai", "OPENAI_API_KEY"),
        ("claude-sonnet-4-5", "anthropic", "ANTHROPIC_API_KEY"),
        ("sonnet", "anthropic", "ANTHROPIC_API_KEY"),
        ("openrouter/anthropic/claude", "openrouter", "OPENROUTER_API_KEY"),
        ("gemini/gemini-2.5-pro", "gemini", "GEMINI_API_KEY"),
    ],
)
def test_aider_has_the_key_of_its_models_provider_alone(model: str, provider: str, key: str) -> None:
    assert provider_of(model) == provider
    assert Aider(model).capabilities().keys == (key,)


def test_a_bound_in_money_holds_where_the_program_or_the_list_knows_the_price() -> None:
    known = {
        "claude": ProgramAgent(Claude()).price_known,
        "codex": ProgramAgent(Codex(), ProgramSetup(model="gpt-5")).price_known,
        "codex, any model": ProgramAgent(Codex()).price_known,
        "aider": ProgramAgent(Aider("openai/gpt-5"), ProgramSetup(model="openai/gpt-5")).price_known,
        "aider, no such model": ProgramAgent(Aider("openai/x"), ProgramSetup(model="openai/x")).price_known,
    }
    assert known == {
        "claude": True,
        "codex": True,
        "codex, any model": False,
        "aider": True,
        "aider, no such model": False,
    }


def test_who_goes_on_is_told_to_look_at_the_files_first() -> None:
    prompt = filled("program_resumed")
    assert "cut short" in prompt
    assert "Look at the files before you change anything." in " ".join(prompt.split())


def test_a_packages_neighbours_and_a_scripts_interpreter_are_seen_and_never_the_home(tmp_path: Path) -> None:
    home, modules = tmp_path / "user", tmp_path / "user/tools/node_modules"
    native, links = modules / "@vendor/agent/bin/agent.js", modules / ".bin"
    for folder in (native.parent, links, tmp_path / "venv/bin", tmp_path / "python/bin", home / "bin"):
        folder.mkdir(parents=True)
    native.write_text("#!/usr/bin/env node\n")
    (links / "agent").symlink_to("../@vendor/agent/bin/agent.js")
    (tmp_path / "python/bin/python3.11").touch()
    (tmp_path / "venv/bin/python").symlink_to(tmp_path / "python/bin/python3.11")
    (tmp_path / "venv/pyvenv.cfg").touch()
    (home / "bin/aider").write_text(f"#!{tmp_path}/venv/bin/python\n")
    (home / "agent").touch()

    seen = needed_paths(links / "agent", users_home=home)
    assert modules in seen and links in seen
    seen = needed_paths(home / "bin/aider", users_home=home)
    assert {home / "bin", tmp_path / "venv", tmp_path / "python"} <= {*seen}
    assert needed_paths(home / "agent", users_home=home) == ()
