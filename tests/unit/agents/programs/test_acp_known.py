"""How programs that speak the Agent Client Protocol are started."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.programs.acp.acp import acp_driver
from milepost.agents.programs.acp.names import known_programs
from milepost.agents.programs.driver import Invocation, Job, ProgramSetup
from milepost.core.errors import AgentUnknown, SettingInvalid

JOB = Job(prompt="Do it.", folder=Path("/there/space"), home=Path("/private/home"), session="s1")
URL = "http://127.0.0.1:9/v1"
SETUP = ProgramSetup(model="small", base_url=URL, args=("--extra",), max_turns=7)


def started(name: str, setup: ProgramSetup = SETUP) -> tuple[Invocation, dict[str, Any]]:
    """How a program is started, and the order that our client gets for it."""
    invocation = acp_driver(name, setup).invocation(f"/bin/{name}", JOB, setup)
    return invocation, json.loads(invocation.stdin)


@pytest.mark.parametrize(
    ("name", "words", "env"),
    [
        ("gemini", ["--acp", "--skip-trust", "-m", "small"], {"GOOGLE_GEMINI_BASE_URL": URL}),
        (
            "qwen",
            ["--acp", "--auth-type", "openai", "-m", "small", "--max-session-turns", "7"],
            {"OPENAI_BASE_URL": URL, "OPENAI_MODEL": "small"},
        ),
        (
            "goose",
            ["acp"],
            {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "small", "OPENAI_BASE_URL": URL, "GOOSE_MAX_TURNS": "7"},
        ),
        ("opencode", ["acp"], {"OPENCODE_DISABLE_AUTOUPDATE": "1"}),
        (
            "kimi",
            ["acp"],
            {"KIMI_MODEL_NAME": "small", "KIMI_MODEL_BASE_URL": URL, "KIMI_CODE_HOME": "/private/home/.kimi"},
        ),
    ],
)
def test_a_known_program_is_given_its_model_its_address_and_its_bounds(
    name: str, words: list[str], env: dict[str, str]
) -> None:
    invocation, order = started(name)

    assert order["argv"] == [f"/bin/{name}", *words, "--extra"]
    assert env.items() <= invocation.env.items()
    assert (order["cwd"], order["prompt"], order["session"], order["model"]) == ("/there/space", "Do it.", "s1", "")
    assert order["most_steps"] == 7
    assert "Do it." not in " ".join(invocation.argv), "a command line is for all to see"


def test_every_known_program_is_tested() -> None:
    names = {agent.name for agent in known_programs()}
    assert names == {"gemini", "goose", "kimi", "opencode", "qwen"}


def test_our_client_goes_with_the_program_and_needs_nothing_of_ours_beside_it() -> None:
    invocation, _ = started("goose")

    folder = invocation.argv[-1].removeprefix("/private/home/")
    ours = {name for name in invocation.files if name.startswith(f"{folder}/")}
    assert {Path(name).name for name in ours} == {
        "client.py",
        "lines.py",
        "peer.py",
        "workspace.py",
    }
    imported = {
        line.split()[1]
        for name in ours
        for line in invocation.files[name].splitlines()
        if line.startswith("from milepost")
    }
    assert imported <= {name.removeprefix(f"{folder}/").removesuffix(".py").replace("/", ".") for name in ours}


def test_files_hold_what_a_program_takes_only_from_them() -> None:
    gemini = json.loads(started("gemini")[0].files[".gemini/settings.json"])
    assert gemini["model"] == {"maxSessionTurns": 7}
    assert gemini["security"]["auth"]["selectedType"] == "gemini-api-key"

    opencode = json.loads(started("opencode")[0].env["OPENCODE_CONFIG_CONTENT"])
    (provider,) = opencode["provider"].values()
    assert provider["options"] == {"baseURL": URL, "apiKey": "{env:OPENAI_API_KEY}"}
    assert opencode["model"] == f"{opencode['enabled_providers'][0]}/small"


@pytest.mark.parametrize(
    ("model", "hosts", "keys", "provider", "asked_for"),
    [
        ("gpt-5.5", "api.openai.com", "OPENAI_API_KEY", "openai", "gpt-5.5"),
        ("openai/gpt-5.5", "api.openai.com", "OPENAI_API_KEY", "openai", "gpt-5.5"),
        ("anthropic/claude", "api.anthropic.com", "ANTHROPIC_API_KEY", "anthropic", "claude"),
        ("openrouter/qwen/coder", "openrouter.ai", "OPENROUTER_API_KEY", "openrouter", "qwen/coder"),
        ("qwen/coder", "api.openai.com", "OPENAI_API_KEY", "openai", "qwen/coder"),
    ],
)
def test_the_models_name_says_whom_a_program_asks_and_so_whose_key_it_gets(
    model: str, hosts: str, keys: str, provider: str, asked_for: str
) -> None:
    setup = ProgramSetup(model=model)
    can = acp_driver("goose", setup).capabilities()

    assert (can.hosts, can.keys) == ((hosts,), (keys,))
    env = started("goose", setup)[0].env
    assert (env["GOOSE_PROVIDER"], env["GOOSE_MODEL"]) == (provider, asked_for)
    assert not {"OPENAI_BASE_URL", "ANTHROPIC_HOST", "OPENROUTER_HOST"} & set(env)


def test_what_the_settings_say_goes_before_the_table() -> None:
    invocation, _ = started("goose", replace(SETUP, env={"GOOSE_MODE": "approve"}))

    assert "GOOSE_MODE" not in invocation.env


def test_another_program_is_started_as_the_settings_say() -> None:
    setup = ProgramSetup(
        program="./agent",
        model="m",
        base_url=URL,
        args=("serve", "--at={base_url}"),
        env={"MODEL": "x/{model}", "A": "b"},
    )

    invocation, order = started("mine", setup)

    assert order["argv"] == ["/bin/mine", "serve", f"--at={URL}"]
    assert dict(invocation.env) == {"MODEL": "x/m"}
    assert order["model"] == ""
    assert acp_driver("mine", setup).program == "./agent"


def test_a_model_that_has_no_place_in_the_settings_is_asked_for_by_protocol() -> None:
    _, order = started("mine", ProgramSetup(program="agent", model="m"))

    assert order["model"] == "m"


@pytest.mark.parametrize("name", ["", "nobody", "../goose"])
def test_a_program_that_nobody_knows_is_refused_with_those_that_are_known(name: str) -> None:
    with pytest.raises(AgentUnknown) as caught:
        acp_driver(name, ProgramSetup())

    assert repr(f"acp:{name}") in caught.value.message
    assert "acp:goose" in caught.value.advice and "program" in caught.value.advice


@pytest.mark.parametrize("name", ["claude", "codex"])
@pytest.mark.parametrize("setup", [ProgramSetup(), ProgramSetup(program="a-wrapper")])
def test_a_program_with_a_driver_of_its_own_is_refused_in_one_line_that_names_it(
    name: str, setup: ProgramSetup
) -> None:
    with pytest.raises(AgentUnknown) as caught:
        acp_driver(name, setup)

    assert caught.value.message == f"there is no agent 'acp:{name}': use '{name}', which drives the program directly"
    assert caught.value.advice == ""


@pytest.mark.parametrize(
    ("name", "setup", "says"),
    [
        ("goose", ProgramSetup(), "has no model"),
        ("kimi", ProgramSetup(base_url=URL), "has no model"),
        ("mine", ProgramSetup(program="agent", base_url=URL), "no setting passes the address"),
    ],
)
def test_settings_that_would_be_passed_over_are_refused(name: str, setup: ProgramSetup, says: str) -> None:
    with pytest.raises(SettingInvalid, match=says):
        acp_driver(name, setup)
