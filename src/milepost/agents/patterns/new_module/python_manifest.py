"""The pyproject.toml of a new Python module: written, or extended by what the module adds."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from milepost.agents.patterns.new_module.module import Module
from milepost.sandbox.confined import PathRefused

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

PATH = "pyproject.toml"

_NEW = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{distribution}"
version = "0.1.0"
description = {description}
requires-python = ">=3.11"
{licence}"""


def manifest(existing: str | None, module: Module) -> str:
    """The text that pyproject.toml is to hold; `PathRefused` where it cannot be known how to add the module."""
    if existing is None:
        return _new(module)
    document = parsed(existing, PATH)
    _add_script(document, module)
    _add_package(document, module)
    return document.as_string()


def parsed(text: str, path: str) -> TOMLDocument:
    """A TOML file whose layout is kept."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text)
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise PathRefused(f"{path} cannot be read: {error}") from error


def table_at(table: MutableMapping[str, Any], *names: str) -> MutableMapping[str, Any] | None:
    """The table of these names, one inside the other, if it is there."""
    for name in names:
        below = table.get(name)
        if not isinstance(below, MutableMapping):
            return None
        table = below
    return table


def _new(module: Module) -> str:
    licence = f'license = "{module.license}"\nlicense-files = ["LICENSE"]\n' if module.license else ""
    parts = [
        _NEW.format(distribution=module.name.replace("_", "-"), description=_text(module.description), licence=licence)
    ]
    if module.kind in ("cli", "api"):
        parts.append(f'[project.scripts]\n{module.name} = "{_target(module)}"\n')
    if module.kind == "utility":
        parts.append(f'[tool.setuptools]\npy-modules = ["{module.name}"]\n')
    else:
        parts.append(f'[tool.setuptools]\npackages = ["{module.name}"]\n')
        parts.append('[tool.setuptools.package-data]\n"*" = ["py.typed"]\n')
    return "\n".join(parts)


def _text(description: str) -> str:
    return '"' + description.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _target(module: Module) -> str:
    return f"{module.name}.__main__:main" if module.kind == "cli" else f"{module.name}.server:main"


def _add_script(document: TOMLDocument, module: Module) -> None:
    """Offer the program beside those that the project offers; a file for tools only has no project to offer it."""
    import tomlkit

    if module.kind not in ("cli", "api"):
        return
    owner = table_at(document, "project") or table_at(document, "tool", "poetry")
    if owner is None:
        return
    if "scripts" in owner.get("dynamic", ()):
        raise PathRefused(f"{PATH} says that its scripts are dynamic: add {module.name} where they come from")
    target = _target(module)
    if "scripts" not in owner:
        table = tomlkit.table()
        table[module.name] = target
        if list(document)[-1] != "project":
            table.add(tomlkit.nl())
        owner["scripts"] = table
    elif owner["scripts"].get(module.name, target) != target:
        raise PathRefused(f"{PATH} has a script {module.name!r} already, for {owner['scripts'][module.name]!r}")
    else:
        owner["scripts"][module.name] = target


def _add_package(document: TOMLDocument, module: Module) -> None:
    """Name the module where the project names each of its own; where it lets them be found there is nothing to add."""
    setuptools = table_at(document, "tool", "setuptools")
    if setuptools is not None and any(isinstance(setuptools.get(key), list) for key in ("packages", "py-modules")):
        _list(setuptools, "py-modules" if module.kind == "utility" else "packages", module.name)
    wheel = table_at(document, "tool", "hatch", "build", "targets", "wheel")
    if wheel is not None and isinstance(wheel.get("packages"), list):
        _list(wheel, "packages", f"{module.root}{module.name}" + (".py" if module.kind == "utility" else ""))


def _list(owner: MutableMapping[str, Any], key: str, name: str) -> None:
    if key not in owner:
        owner[key] = [name]
    elif name not in owner[key]:
        owner[key].append(name)
