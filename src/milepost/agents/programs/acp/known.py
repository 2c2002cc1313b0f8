"""The agent programs that are known to speak the Agent Client Protocol, and how each is given its model and address.

What is not in the table is started as the settings say.
"""

from __future__ import annotations

import json
from pathlib import Path

from milepost.agents.programs.acp.agents import AcpAgent, ProgramInputs, Service, service_and_model
from milepost.agents.programs.driver import ProgramSetup

RETRIES = 2  # the engine waits, not the program

ANTHROPIC = Service(host="api.anthropic.com", key="ANTHROPIC_API_KEY", provider="anthropic")
OPENAI = Service(host="api.openai.com", key="OPENAI_API_KEY", provider="openai")
OPENROUTER = Service(host="openrouter.ai", key="OPENROUTER_API_KEY", provider="openrouter")
GOOGLE = Service(host="generativelanguage.googleapis.com", key="GEMINI_API_KEY", provider="google")
QWEN = Service(host="dashscope.aliyuncs.com", key="OPENAI_API_KEY", provider="")
MOONSHOT = Service(host="api.moonshot.ai", key="KIMI_MODEL_API_KEY", provider="moonshotai")

_NO_TERMINAL = {"shell": {"enableInteractiveShell": False}}  # the sandbox has no terminals to give


def _gemini(setup: ProgramSetup, home: Path) -> ProgramInputs:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "model": {"maxSessionTurns": setup.max_turns or -1},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": RETRIES + 1},
        "tools": _NO_TERMINAL,
    }
    address = {"GOOGLE_GEMINI_BASE_URL": setup.base_url} if setup.base_url else {}
    return ProgramInputs(
        words=("-m", setup.model) if setup.model else (),
        env={"GEMINI_CLI_NO_RELAUNCH": "true", **address},
        files={".gemini/settings.json": json.dumps(settings)},
    )


def _qwen(setup: ProgramSetup, home: Path) -> ProgramInputs:
    settings = {
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "model": {"generationConfig": {"maxRetries": RETRIES}},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "disableUpdateNag": True},
        "tools": _NO_TERMINAL,
    }
    turns = ("--max-session-turns", str(setup.max_turns)) if setup.max_turns else ()
    base_url = setup.base_url or f"https://{QWEN.host}/compatible-mode/v1"
    return ProgramInputs(
        words=("--auth-type", "openai", "-m", setup.model, *turns),
        env={"QWEN_CODE_NO_RELAUNCH": "true", "OPENAI_BASE_URL": base_url, "OPENAI_MODEL": setup.model},
        files={".qwen/settings.json": json.dumps(settings)},
    )


_GOOSE = {"openai": OPENAI, "anthropic": ANTHROPIC, "openrouter": OPENROUTER}
_GOOSE_ADDRESS = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_HOST", "openrouter": "OPENROUTER_HOST"}


def _goose(setup: ProgramSetup, home: Path) -> ProgramInputs:
    service, model = service_and_model(_GOOSE, setup.model)
    address = {_GOOSE_ADDRESS[service]: setup.base_url} if setup.base_url else {}
    turns = {"GOOSE_MAX_TURNS": str(setup.max_turns)} if setup.max_turns else {}
    switches = {"GOOSE_MODE": "auto", "GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_OFF": "1"}
    return ProgramInputs(env={**switches, **turns, **address, "GOOSE_PROVIDER": service, "GOOSE_MODEL": model})


_OPENCODE = {"openai": OPENAI, "anthropic": ANTHROPIC, "openrouter": OPENROUTER}
_OPENCODE_PACKAGE = {
    "openai": "@ai-sdk/openai-compatible",
    "anthropic": "@ai-sdk/anthropic",
    "openrouter": "@ai-sdk/openai-compatible",
}


def _opencode(setup: ProgramSetup, home: Path) -> ProgramInputs:
    service, model = service_and_model(_OPENCODE, setup.model)
    config: dict[str, object] = {"autoupdate": False, "share": "disabled"}
    if setup.base_url:
        # Not one of its own names, which would bring its own addresses and models with it.
        service_name = "milepost"
        options = {"baseURL": setup.base_url, "apiKey": f"{{env:{_OPENCODE[service].key}}}"}
        config["provider"] = {
            service_name: {
                "npm": _OPENCODE_PACKAGE[service],
                "name": service_name,
                "options": options,
                "models": {model: {"name": model, "tool_call": True}},
            }
        }
    else:
        service_name = service
    chosen = f"{service_name}/{model}"
    config |= {"model": chosen, "small_model": chosen, "enabled_providers": [service_name]}
    switches = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE")
    return ProgramInputs(
        env={"OPENCODE_CONFIG_CONTENT": json.dumps(config), **{f"OPENCODE_DISABLE_{name}": "1" for name in switches}}
    )


def _kimi(setup: ProgramSetup, home: Path) -> ProgramInputs:
    turns = {"KIMI_LOOP_MAX_STEPS_PER_TURN": str(setup.max_turns)} if setup.max_turns else {}
    return ProgramInputs(
        env={
            "KIMI_CODE_HOME": str(home / ".kimi"),
            "KIMI_MODEL_NAME": setup.model,
            "KIMI_MODEL_BASE_URL": setup.base_url or f"https://{MOONSHOT.host}/v1",
            "KIMI_MODEL_PROVIDER_TYPE": "openai",
            "KIMI_MODEL_MAX_CONTEXT_SIZE": "128000",
            "KIMI_LOOP_MAX_ATTEMPTS_PER_STEP": str(RETRIES + 1),
            "KIMI_DISABLE_TELEMETRY": "1",
            "KIMI_CODE_NO_AUTO_UPDATE": "1",
            **turns,
        }
    )


KNOWN = {
    agent.name: agent
    for agent in (
        AcpAgent(
            name="gemini",
            program="gemini",
            words=("--acp", "--skip-trust"),
            services={"google": GOOGLE},
            given=_gemini,
            serves_files=False,
            counts_tokens=True,
            at_home=(".gemini/GEMINI.md", ".gemini/commands", ".gemini/skills"),
            in_project=("GEMINI.md", ".gemini"),
        ),
        AcpAgent(
            name="qwen",
            program="qwen",
            words=("--acp",),
            services={"qwen": QWEN},
            given=_qwen,
            needs_model=True,
            counts_tokens=True,
            at_home=(".qwen/QWEN.md", ".qwen/commands", ".qwen/skills"),
            in_project=("QWEN.md", ".qwen"),
        ),
        AcpAgent(
            name="goose",
            program="goose",
            words=("acp",),
            services=_GOOSE,
            given=_goose,
            needs_model=True,
            at_home=(".config/goose/.goosehints",),
            in_project=("AGENTS.md", ".goosehints"),
        ),
        AcpAgent(
            name="opencode",
            program="opencode",
            words=("acp",),
            services=_OPENCODE,
            given=_opencode,
            needs_model=True,
            at_home=tuple(f".config/opencode/{name}" for name in ("AGENTS.md", "agent", "command", "skills")),
            in_project=("AGENTS.md", ".opencode", "opencode.json"),
        ),
        AcpAgent(
            name="kimi",
            program="kimi",
            words=("acp",),
            services={"moonshot": MOONSHOT},
            given=_kimi,
            needs_model=True,
        ),
    )
}
