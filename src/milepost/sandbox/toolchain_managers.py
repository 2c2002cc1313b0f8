"""Programs that stand in for toolchains: rustup, pyenv, nvm, asdf, mise and the like, told where they are installed.

Their shims look for the real toolchain below HOME, which for a command is another folder than the user's. What they
install holds no secrets and may be read; of their settings in the home only the versions that are wanted are lent.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LARGEST_SETTINGS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """`variable` says where it is installed, else it is at one of the `places` below the home; `parts` may be read.

    It is in use where a folder of it is on PATH, or its own `program`.
    """

    variable: str
    places: tuple[str, ...]
    parts: tuple[str, ...] = ("",)
    program: str = ""
    also: tuple[str, ...] = ()  # further variables with the same value


_SHIMS = ("bin", "libexec", "plugins", "shims", "version", "versions")
MANAGERS = (
    Manager(variable="RUSTUP_HOME", places=(".rustup",), program="rustup"),
    Manager(variable="PYENV_ROOT", places=(".pyenv",), parts=(*_SHIMS, "pyenv.d")),
    Manager(variable="RBENV_ROOT", places=(".rbenv",), parts=(*_SHIMS, "rbenv.d")),
    Manager(variable="NODENV_ROOT", places=(".nodenv",), parts=(*_SHIMS, "nodenv.d")),
    Manager(variable="GOENV_ROOT", places=(".goenv",), parts=_SHIMS),
    Manager(variable="NVM_DIR", places=(".nvm",), parts=("nvm.sh", "nvm-exec", "versions", "alias")),
    Manager(variable="VOLTA_HOME", places=(".volta",), parts=("bin", "tools", "layout.v4")),
    Manager(variable="ASDF_DATA_DIR", places=(".asdf",), program="asdf", also=("ASDF_DIR",)),
    Manager(
        variable="MISE_DATA_DIR",
        places=(".local/share/mise",),
        parts=("shims", "installs", "plugins"),
        program="mise",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagersInUse:
    """What the managers that PATH leads to need: variables, paths to read, and files in the home of a command."""

    variables: Mapping[str, str]
    readable: tuple[Path, ...]
    lent: Mapping[str, str]


def managers_in_use(path: str, home: Path, cwd: Path, environ: Mapping[str, str] = os.environ) -> ManagersInUse:
    """The managers that commands in `cwd` with this PATH come to, as they are installed for the user with this home."""
    variables: dict[str, str] = {}
    readable: list[Path] = []
    for manager in MANAGERS:
        root = _root(manager, home, environ)
        if root is None or not _is_used(manager, root, path):
            continue
        variables[manager.variable] = str(root)
        variables |= {name: environ.get(name) or str(root) for name in manager.also}
        readable += [root / part for part in manager.parts if (root / part).exists()]
    lent = _lent(variables, home, environ)
    if "MISE_DATA_DIR" in variables:  # what the settings of a checkout can do, its commands can do anyway
        variables["MISE_TRUSTED_CONFIG_PATHS"] = str(cwd)
    return ManagersInUse(variables=variables, readable=tuple(dict.fromkeys(readable)), lent=lent)


def _root(manager: Manager, home: Path, environ: Mapping[str, str]) -> Path | None:
    named = environ.get(manager.variable, "")
    places = [Path(named)] if named.startswith("/") else [home / place for place in manager.places]
    real_home = os.path.realpath(home)
    for place in places:
        real = os.path.realpath(place)
        if not os.access(real, os.R_OK | os.X_OK):  # it is another user's, whose variables were kept, as after su
            continue
        if Path(real).is_dir() and not Path(real_home).is_relative_to(real):  # never the home, nor what holds it
            return place
    return None


def _is_used(manager: Manager, root: Path, path: str) -> bool:
    real = Path(os.path.realpath(root))
    entries = [Path(entry) for entry in path.split(os.pathsep) if entry.startswith("/")]
    if any(entry.is_relative_to(root) or Path(os.path.realpath(entry)).is_relative_to(real) for entry in entries):
        return True
    return bool(manager.program) and shutil.which(manager.program, path=path) is not None


def _lent(variables: Mapping[str, str], home: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The versions that the user wants where a project names none, as files of another home."""
    if not {"ASDF_DATA_DIR", "MISE_DATA_DIR"} & variables.keys():
        return {}
    lent = {}
    if versions := _text(home / ".tool-versions"):
        lent[".tool-versions"] = versions
    if "MISE_DATA_DIR" in variables:
        config = Path(environ.get("MISE_CONFIG_DIR") or home / ".config/mise") / "config.toml"
        if tools := _tools_in(_text(config)):
            lent[".config/mise/config.toml"] = tools
    return lent


def _tools_in(config: str) -> str:
    """The versions in mise's settings; their variables may be secret and stay where they are."""
    try:
        tools = tomllib.loads(config).get("tools", {})
    except (ValueError, RecursionError):
        return ""
    rows = [f"{_quoted(name)} = {_version(version)}" for name, version in tools.items() if _version(version)]
    return "\n".join(("[tools]", *rows, "")) if rows else ""


def _version(version: object) -> str:
    match version:
        case str():
            return _quoted(version)
        case [*several]:
            return f"[{', '.join(filter(None, map(_version, several)))}]"
        case {"version": str(named)}:
            return _quoted(named)
        case _:
            return ""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(file: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return file.read_text(encoding="utf-8") if file.stat().st_size <= LARGEST_SETTINGS else ""
    return ""
