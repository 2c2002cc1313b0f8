"""The services that models are asked at: found by their names, opened with their keys."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

from milepost.core.errors import AgentUnknown, SettingInvalid

if TYPE_CHECKING:
    from pydantic_ai.models import Model as Client
    from pydantic_ai.providers import Provider

LONGEST_COMPLAINT = 500
OLLAMA = "http://localhost:11434/v1"  # where it listens unless it is told otherwise
MOST_EXAMPLES = 3
_UNUSUAL = re.compile(r"\d{4}-\d{2}-\d{2}|\d{6}|preview|latest|audio|search|image|realtime|live|tts|whisper")

# The variables that providers' own programs read, too.
KEYS = {
    "ANTHROPIC_API_KEY": "anthropic",
    "CEREBRAS_API_KEY": "cerebras",
    "CO_API_KEY": "cohere",
    "DEEPSEEK_API_KEY": "deepseek",
    "GEMINI_API_KEY": "google",
    "GOOGLE_API_KEY": "google",
    "GROQ_API_KEY": "groq",
    "HF_TOKEN": "huggingface",
    "MISTRAL_API_KEY": "mistral",
    "MOONSHOTAI_API_KEY": "moonshotai",
    "OPENAI_API_KEY": "openai",
    "OPENROUTER_API_KEY": "openrouter",
    "XAI_API_KEY": "xai",
}


def require_name(name: str, env: Mapping[str, str]) -> None:
    """Raise when a name is none of a model, or when what asks models is not installed."""
    provider, _, model = name.partition(":")
    if not provider or not model:
        what = f"[model] name is {name!r}, not provider:model" if name else "no model is named"
        raise SettingInvalid(what, advice_on_names({**os.environ, **env}))
    if find_spec("pydantic_ai") is None:
        raise AgentUnknown(
            f"the model {name!r} needs pydantic-ai, which is not installed", "pip install 'milepost[models]'"
        )


def advice_on_names(environ: Mapping[str, str]) -> str:
    """What to name, going by the keys that are set; which of them is meant is for the user to say."""
    where = 'under [model] in milepost.toml: name = "provider:model"'
    keys = {provider: variable for variable, provider in KEYS.items() if environ.get(variable)}
    if not keys:
        return f"name one {where}; its key is taken from the environment, such as ANTHROPIC_API_KEY"
    if len(keys) > 1:
        return f"name one {where}; keys are set for {', '.join(sorted(keys))}"
    [(provider, variable)] = keys.items()
    examples = " or ".join(_known_names(provider)) or f"{provider}:MODEL"
    return f"name one {where}; {variable} is set, so {examples} would work"


def open_client(name: str, base_url: str, env: Mapping[str, str]) -> Client:
    """The library's model of a name, with its key from `env` or the environment; raises on what cannot work."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    provider, _, model = name.partition(":")
    if provider == "openai" and base_url:
        provider = "openai-chat"  # what servers speak that are compatible with it
    try:
        return infer_model(f"{provider}:{model}", lambda one: _provider(one, base_url, env))
    except UserError as error:
        raise SettingInvalid(
            f"the model {name!r} cannot be used: {short(error)}",
            "set the variable with the provider's key, or see [model] in milepost.toml",
        ) from error
    except ImportError as error:
        raise AgentUnknown(
            f"the model {name!r} needs a library that is not installed: {short(error)}",
            "install it beside milepost, or name another provider under [model] in milepost.toml",
        ) from error


def short(error: BaseException) -> str:
    """What an error says, in a line."""
    return " ".join(str(error).split())[:LONGEST_COMPLAINT] or type(error).__name__


def _provider(name: str, base_url: str, env: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.providers import infer_provider, infer_provider_class

    if name == "ollama" and not base_url:
        base_url = env.get("OLLAMA_BASE_URL") or os.environ.get("OLLAMA_BASE_URL") or OLLAMA
    variable = f"{name.removesuffix('-chat').removesuffix('-responses').replace('-', '_').upper()}_API_KEY"
    given = {"base_url": base_url, "api_key": env.get(variable, os.environ.get(variable, ""))}
    given = {key: value for key, value in given.items() if value}
    try:
        return infer_provider_class(name)(**given) if given else infer_provider(name)
    except ValueError as error:
        raise UserError(f"there is no provider {name!r}") from error
    except TypeError as error:
        raise UserError(f"the provider {name!r} takes no {' and no '.join(given)}") from error
    except UserError as error:
        if variable in str(error) and "api_key" not in given:
            raise UserError(f"{variable} is not set") from error
        raise


def _known_names(provider: str) -> list[str]:
    """The newest models of a provider that the library knows, without those of one day or for something else."""
    if find_spec("pydantic_ai") is None:
        return []
    from pydantic_ai.models import KnownModelName

    known = get_args(getattr(KnownModelName, "__value__", KnownModelName))
    usual = [name for name in known if name.startswith(f"{provider}:") and not _UNUSUAL.search(name)]
    return sorted(usual, key=_version, reverse=True)[:MOST_EXAMPLES]


def _version(name: str) -> list[int]:
    """The numbers of a version in a name; large ones tell of something else."""
    return [int(number) for number in re.findall(r"\d+", name) if int(number) < 20]
