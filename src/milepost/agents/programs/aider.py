"""aider: how it is started without a person at it, and what our shim around it tells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from milepost.agents.programs.driver import (
    Capabilities,
    Invocation,
    Job,
    Note,
    ProgramEnded,
    ProgramSetup,
    Spoke,
    Turned,
    Used,
)
from milepost.agents.programs.lines import JsonLines, amount, count, words
from milepost.agents.programs.service_errors import trouble_of
from milepost.core.calls import Usage
from milepost.core.commands import Line

SHIM = "aider_shim.py"
CACHE = ".aider"
PRICES = f"{CACHE}/caches/model_prices_and_context_window.json"
ANSWER_S = 120
ARGV = (
    *("--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-stream", "--no-pretty", "--no-fancy-input"),
    *("--no-check-update", "--no-show-release-notes", "--analytics-disable", "--no-show-model-warnings"),
    *("--no-gitignore", "--no-detect-urls", "--no-suggest-shell-commands", "--no-auto-lint"),
    # It would ask about a summary of its own accord, and not count it.
    *("--timeout", f"{ANSWER_S}", "--max-chat-history-tokens", "1000000"),
)


@dataclass(frozen=True, slots=True)
class Provider:
    """A service that aider can ask: the variable of its key, its host, and the variable of another address."""

    key: str
    host: str
    address: str


PROVIDERS = {
    "openai": Provider("OPENAI_API_KEY", "api.openai.com", "OPENAI_API_BASE"),
    "anthropic": Provider("ANTHROPIC_API_KEY", "api.anthropic.com", "ANTHROPIC_API_BASE"),
    "gemini": Provider("GEMINI_API_KEY", "generativelanguage.googleapis.com", "GEMINI_API_BASE"),
    "openrouter": Provider("OPENROUTER_API_KEY", "openrouter.ai", "OPENROUTER_API_BASE"),
    "deepseek": Provider("DEEPSEEK_API_KEY", "api.deepseek.com", "DEEPSEEK_API_BASE"),
}
_PRICED_AS = {"gemini": "google"}
_OF_MODELS = {"claude": "anthropic", "sonnet": "anthropic", "opus": "anthropic", "haiku": "anthropic"}


class Aider:
    """The driver of aider. With a model it is given the key and the host of that model's provider, and no others."""

    name = "aider"
    program = "aider"

    def __init__(self, model: str = "") -> None:
        self._provider = provider_of(model)

    def capabilities(self) -> Capabilities:
        asked = [PROVIDERS[self._provider]] if self._provider else list(PROVIDERS.values())
        return Capabilities(
            hosts=tuple(each.host for each in asked),
            keys=tuple(each.key for each in asked),
            ends_itself=True,
            sessions=False,
            turn_limit=False,
            usd_limit=False,
            counts_tokens=True,
            counts_usd=False,
            provider=_PRICED_AS.get(self._provider, self._provider),
            in_project=(".aider.conf.yml",),
        )

    def version_argv(self, program: str) -> tuple[str, ...]:
        return (program, "--version")

    def invocation(self, program: str, job: Job, setup: ProgramSetup) -> Invocation:
        model = ("--model", setup.model) if setup.model else ()
        cache = job.home / CACHE
        histories = {"--chat-history-file": "chat.md", "--input-history-file": "input", "--llm-history-file": "llm.txt"}
        kept = (word for option, name in histories.items() for word in (option, str(cache / name)))
        order = {
            "argv": [*ARGV, *kept, *model, *setup.args],
            "files": job.files,
            "prompt": job.prompt,
            "cache": str(cache),
        }
        address = {_address_of(provider_of(setup.model)): setup.base_url} if setup.base_url else {}
        return Invocation(
            argv=(str(python_of(Path(program))), "-I", str(job.home / SHIM)),
            env={"LITELLM_LOCAL_MODEL_COST_MAP": "True", **address},
            stdin=json.dumps(order),
            # With a list of prices of today's date it does not fetch one.
            files={SHIM: files(__package__).joinpath(SHIM).read_text(encoding="utf-8"), PRICES: '{"none": {}}'},
        )

    def reader(self) -> AiderReader:
        return AiderReader()


class AiderReader:
    """Reads what the shim tells."""

    def __init__(self) -> None:
        self._lines = JsonLines()

    def read(self, line: Line) -> tuple[Note, ...]:
        told = self._lines.read(line.text) if line.stream == "stdout" else None
        return tuple(self._notes(told)) if isinstance(told, Mapping) else ()

    def _notes(self, told: Mapping[str, Any]) -> Iterator[Note]:
        match words(told.get("aider")):
            case "turn":
                yield Turned(count(told.get("count")))
            case "said":
                if text := words(told.get("text")).strip():
                    yield Spoke(text)
            case "used":
                yield Used(
                    Usage(
                        input_tokens=count(told.get("input_tokens")),
                        output_tokens=count(told.get("output_tokens")),
                        cost_usd=amount(told.get("cost_usd")),
                    ),
                    cost_known=amount(told.get("cost_usd")) > 0,
                    model=words(told.get("model")),
                )
            case "refused":
                status, wait_s = count(told.get("status")) or None, amount(told.get("wait_s")) or None
                yield trouble_of(words(told.get("what")), status=status, wait_s=wait_s)
            case "ended":
                yield ProgramEnded(told.get("fine") is True, words(told.get("what")))


def provider_of(model: str) -> str:
    """Whose model this is, as aider names models: `openai/gpt-5`, `sonnet`; empty without a model."""
    before, _, _ = model.partition("/")
    if before in PROVIDERS:
        return before
    return next((provider for part, provider in _OF_MODELS.items() if part in model), "openai") if model else ""


def python_of(program: Path) -> Path:
    """The Python that a program installed by pip, pipx or uv is run by: the one beside it."""
    return program.resolve().parent / "python"


def _address_of(provider: str) -> str:
    return PROVIDERS[provider or "openai"].address
