"""What setup.cfg declares, and setup.py as far as it is written there as it stands."""

from __future__ import annotations

import ast
import configparser
from pathlib import Path
from typing import Any

from milepost.sandbox.read_plain import LARGEST_SETTINGS, read_plain
from milepost.sources.parse_documents import strings, table
from milepost.verify.environments.python_project import Declared, entry_points_of, expanded, once, strings_or_one


def from_setup(folder: Path, extras: tuple[str, ...]) -> Declared:
    """setup.cfg, and of setup.py what is written in it as it stands."""
    given, notes = _setup_call(folder / "setup.py")
    config = _setup_cfg(folder / "setup.cfg")
    metadata = config["metadata"] if config.has_section("metadata") else {}
    options = config["options"] if config.has_section("options") else {}
    optional = {name: strings_or_one(value) for name, value in table(given.get("extras_require")).items()}
    if config.has_section("options.extras_require"):
        optional |= {name: _listed(value) for name, value in config["options.extras_require"].items()}
    name = str(given.get("name") or metadata.get("name", ""))
    own = (*strings_or_one(given.get("install_requires")), *_listed(options.get("install_requires", "")))
    own += (*strings_or_one(given.get("tests_require")), *_listed(options.get("tests_require", "")))
    points: dict[str, Any] = {group: _pairs(value) for group, value in table(given.get("entry_points")).items()}
    if config.has_section("options.entry_points"):
        points |= {group: _pairs(value) for group, value in config["options.entry_points"].items()}
    folders = _pairs(options.get("package_dir", "")) | table(given.get("package_dir"))
    return Declared(
        name=name,
        version=str(given.get("version") or metadata.get("version", "")),
        requirements=once((*own, *expanded(name, optional, extras))),
        extras=optional,
        entry_points=entry_points_of(points),
        is_package=bool(name),
        source=str(folders.get("", "")),
        notes=notes,
    )


def _setup_cfg(path: Path) -> configparser.ConfigParser:
    """The file as a table, an empty one where it is broken: what was read up to there is half made."""
    config = configparser.ConfigParser(interpolation=None)
    try:
        config.read_string(read_plain(path, LARGEST_SETTINGS).decode())
    except (OSError, configparser.Error, UnicodeDecodeError):
        return configparser.ConfigParser()
    return config


def _setup_call(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        tree = ast.parse(read_plain(path, LARGEST_SETTINGS))
    except OSError:
        return {}, ()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}, ("setup.py cannot be read",)
    given: dict[str, Any] = {}
    computed = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == "setup":
            for keyword in node.keywords:
                try:
                    given[str(keyword.arg)] = ast.literal_eval(keyword.value)
                except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    computed.append(str(keyword.arg))
    lost = [name for name in ("install_requires", "extras_require", "ext_modules") if name in computed]
    return given, tuple(f"setup.py computes its {name}, which is not known without running it" for name in lost)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))


def _pairs(value: object) -> dict[str, str]:
    """`name = target` lines, as setup.cfg and setup.py write entry points."""
    lines = _listed(value) if isinstance(value, str) else strings(value)
    return {name.strip(): target.strip() for name, _, target in (line.partition("=") for line in lines)}
