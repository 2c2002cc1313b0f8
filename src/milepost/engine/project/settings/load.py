"""Reads milepost.toml: flags over environment over file over defaults.

This is the one door to the file. A value in it that reaches beyond the repository takes effect only where a person on
this machine agreed to it; else whoever uses it is refused, and everybody else gets the default in its place.
"""

from __future__ import annotations

import copy
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from milepost.core.asked_settings import SettingsQuestion
from milepost.core.errors import SettingInvalid, SettingsNotAgreed
from milepost.core.own_files import SETTINGS_FILE
from milepost.engine.project import consent
from milepost.engine.project.settings.reach import Reaching, reaching
from milepost.engine.project.settings.settings import Settings
from milepost.sandbox.read_plain import LARGEST_SETTINGS, read_plain

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
    "verify_mode": ("verify", "mode"),
    "adaptive_mode": ("repair", "mode"),
    "checkouts": ("workspace", "checkouts"),
}

# What a caller uses of the settings, by sections and keys: it is refused where one of them waits for an agreement.
Uses = Sequence[str]
NOTHING: Uses = ()
SERVER: Uses = ("run.database", "run.remote")
MODEL: Uses = ("model", "agents.tool", "agents.code")
COMMANDS: Uses = ("run.trust", "sandbox", "surroundings", "terminal", "verify", "workspace.copy", "workspace.checkouts")
CHECKS: Uses = (*COMMANDS, "agents", "model", "mcp", "patterns", "repair")
MEMORY: Uses = (*SERVER, "memory")
PATTERNS: Uses = ("patterns",)
EVERYTHING: Uses = tuple(Settings.model_fields)

ADVICE = "look at it and agree: milepost settings agree   or agree for one command, as in CI: --yes-settings"


def load(
    folder: Path,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    uses: Uses = NOTHING,
) -> Settings:
    """The settings for a roadmap in `folder`; `flags` are those that were given by hand, `uses` what is relied on."""
    table = _written(folder)
    given: dict[str, object] = {key: environ[name] for name, key in VARIABLES.items() if environ.get(name)}
    given |= {key: value for key, value in (flags or {}).items() if value is not None}
    settings = _validated(_with(table, given), given, environ)
    by_hand = {_ELSEWHERE.get(key, ("run", key)) for key in given}
    wanted = [one for one in reaching(settings) if one.path not in by_hand]
    missing = consent.missing(folder / SETTINGS_FILE, wanted, environ)
    if not missing:
        return settings
    if used := [one.key for one in missing if _is_of(one.key, uses)]:
        raise SettingsNotAgreed(
            f"{SETTINGS_FILE} sets what nobody agreed to on this machine: {', '.join(used)}",
            ADVICE,
            question=_question(folder, table, wanted),
        )
    return _validated(_with(_without(table, missing), given), given, environ)


def unanswered(folder: Path, environ: Mapping[str, str] = os.environ) -> SettingsQuestion | None:
    """What a person is to be asked about the settings of a folder; None where nothing waits for an answer."""
    wanted = wanted_by(folder)
    if not consent.missing(folder / SETTINGS_FILE, wanted, environ):
        return None
    return consent.question(folder / SETTINGS_FILE, wanted)


def wanted_by(folder: Path) -> list[Reaching]:
    """All values of a folder's settings that take effect only where a person agreed to them."""
    return list(reaching(_validated(_with(_written(folder), {}), {}, {})))


def require_as_agreed(folder: Path, copied: Path) -> None:
    """Raise where the settings of a copy want what nobody agreed to where it was copied from."""
    if missing := consent.missing(folder / SETTINGS_FILE, wanted_by(copied)):
        raise SettingInvalid(
            f"{SETTINGS_FILE} as it is committed sets what nobody agreed to: {', '.join(one.key for one in missing)}",
            "commit the settings that you agreed to, or agree to these: milepost settings agree",
        )


def _written(folder: Path) -> dict[str, Any]:
    path = folder / SETTINGS_FILE
    try:
        return tomllib.loads(read_plain(path, LARGEST_SETTINGS).decode()) if path.exists() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingInvalid(f"{SETTINGS_FILE} cannot be read: {error}", "it must be a readable UTF-8 file") from error
    except RecursionError:
        raise SettingInvalid(f"{SETTINGS_FILE} is nested too deeply", "write it flatter") from None
    except ValueError as error:
        raise SettingInvalid(f"{SETTINGS_FILE} is not valid TOML: {error}", "fix the line it names") from error


def _with(table: Mapping[str, Any], given: Mapping[str, object]) -> dict[str, Any]:
    """What the file says, and over it what was given by hand."""
    whole = dict(table)
    for section in ("run", *(section for section, _ in _ELSEWHERE.values())):
        written = whole.get(section, {})
        if not isinstance(written, dict):
            raise SettingInvalid(f"{section} in {SETTINGS_FILE} must be a table", f"write it as [{section}]")
        whole[section] = dict(written)
    for key, value in given.items():
        section, name = _ELSEWHERE.get(key, ("run", key))
        whole[section][name] = value
    return whole


def _without(table: Mapping[str, Any], left_out: Iterable[Reaching]) -> dict[str, Any]:
    """What the file says but for these values."""
    kept = copy.deepcopy(dict(table))
    for one in left_out:
        section = kept
        for name in one.path[:-1]:
            section = section[name]
        del section[one.path[-1]]
    return kept


def _question(folder: Path, table: Mapping[str, Any], in_effect: list[Reaching]) -> SettingsQuestion:
    """What to ask about all of a file, also about what was overridden by hand this time."""
    try:
        whole = list(reaching(Settings.model_validate(table)))
    except ValidationError:  # of a value that was overridden
        whole = in_effect
    return consent.question(folder / SETTINGS_FILE, whole)


def _is_of(key: str, uses: Uses) -> bool:
    return any(key == use or key.startswith(f"{use}.") for use in uses)


def _validated(table: Mapping[str, Any], given: Mapping[str, object], environ: Mapping[str, str]) -> Settings:
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        forbidden = first["type"] == "extra_forbidden"
        problem = "is not a setting of this version" if forbidden else _plainly(first["msg"])
        may_hold_a_key = forbidden or first["loc"][0] in ("agents", "mcp", "surroundings", "targets")
        shown = repr(first["input"])
        value = "" if may_hold_a_key or shown in problem else f": {shown}"
        for variable, key in VARIABLES.items():
            if _is_about(key, first["loc"]) and environ.get(variable) and given.get(key) == environ[variable]:
                raise SettingInvalid(f"{variable} {problem}{value}", f"it sets {where}: correct it") from error
        for key in given:
            if _is_about(key, first["loc"]):
                raise SettingInvalid(f"{key} {problem}{value}", f"correct {_option(key)}, which was given") from error
        section = where.partition(".")[0]
        meant = _meant(first["loc"]) if forbidden else ""
        advice = f"did you mean {meant}?" if meant else f"correct [{section}] in {SETTINGS_FILE}"
        raise SettingInvalid(f"{where} {problem}{value}", advice) from error


def _plainly(message: str) -> str:
    """What is wrong with a value, without the words that pydantic puts before it."""
    return message.removeprefix("Value error, ").replace("Input should be", "must be", 1)


def _is_about(key: str, place: Sequence[int | str]) -> bool:
    return _ELSEWHERE.get(key, ("run", key)) == tuple(place[:2])


def _option(key: str) -> str:
    return f"--{key.removesuffix('_usd').replace('_', '-')}"


def _meant(place: Sequence[int | str]) -> str:
    """The setting whose name is nearly this one, in the same section; empty where there is none."""
    fields: Mapping[str, FieldInfo] = Settings.model_fields
    for name in place[:-1]:
        model = fields[str(name)].annotation if name in fields else None
        fields = model.model_fields if isinstance(model, type) and issubclass(model, BaseModel) else {}
    near = get_close_matches(str(place[-1]), fields, n=1)
    return ".".join(map(str, (*place[:-1], *near))) if near else ""
