"""Reads milepost.toml: flags over environment over file over defaults."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from milepost.core.errors import SettingInvalid
from milepost.core.own_files import SETTINGS_FILE
from milepost.engine.project.settings.settings import Settings

# Settings that the environment may give, for CI and containers.
VARIABLES = {
    "MILEPOST_AGENT": "agent",
    "MILEPOST_PARALLEL": "parallel",
    "MILEPOST_TRUST": "trust",
    "MILEPOST_NETWORK": "network",
    "MILEPOST_BUDGET": "budget_usd",
    "MILEPOST_DATABASE": "database",
    "MILEPOST_REMOTE": "remote",
    "MILEPOST_MODEL": "model",
    "MILEPOST_MEMORY": "memory",
    "MILEPOST_CHECKOUTS": "checkouts",
}
# Whatever else can be given by hand is of [run].
_ELSEWHERE = {
    "network": ("sandbox", "network"),
    "model": ("model", "name"),
    "order": ("plan", "order"),
    "group": ("plan", "group"),
    "dialect": ("roadmap", "dialect"),
    "memory": ("memory", "mode"),
    "checkouts": ("workspace", "checkouts"),
}


def load(folder: Path, flags: Mapping[str, object] | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings for a roadmap in `folder`; `flags` are those that were given by hand."""
    path = folder / SETTINGS_FILE
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingInvalid(f"{SETTINGS_FILE} cannot be read: {error}", "it must be a readable UTF-8 file") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingInvalid(f"{SETTINGS_FILE} is not valid TOML: {error}", "fix the line it names") from error
    given: dict[str, object] = {key: environ[name] for name, key in VARIABLES.items() if environ.get(name)}
    given |= {key: value for key, value in (flags or {}).items() if value is not None}
    for section in ("run", *(section for section, _ in _ELSEWHERE.values())):
        written = table.setdefault(section, {})
        if not isinstance(written, dict):
            raise SettingInvalid(f"{section} in {SETTINGS_FILE} must be a table", f"write it as [{section}]")
    for key, value in given.items():
        section, name = _ELSEWHERE.get(key, ("run", key))
        table[section] |= {name: value}
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        problem = "is not a setting of this version" if first["type"] == "extra_forbidden" else first["msg"]
        may_hold_a_key = first["loc"][0] in ("agents", "mcp", "surroundings") or first["type"] == "extra_forbidden"
        value = "" if may_hold_a_key else f": {first['input']!r}"
        for variable, key in VARIABLES.items():
            is_it = _ELSEWHERE.get(key, ("run", key)) == first["loc"] and bool(environ.get(variable))
            if is_it and given[key] == environ[variable]:
                raise SettingInvalid(f"{variable} {problem}{value}", f"it sets {where}: correct it") from error
        raise SettingInvalid(
            f"{where} {problem}{value}", f"correct [{where.partition('.')[0]}] in {SETTINGS_FILE}"
        ) from error
