"""Packages for one run only: installed in a folder that is deleted afterwards, beside the project's environment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from milepost.verify.environments.equipment import Equipment
from milepost.verify.environments.package_cache import Failed
from milepost.verify.environments.python_install import INSTALL, PIP
from milepost.verify.environments.run_installer import Installer, failed

Language = Literal["python", "node"]


def add_package(
    installer: Installer, equipment: Equipment, language: Language, requirement: str, entry: Path
) -> Equipment | Failed:
    """The equipment with one more package, installed in the empty folder `entry`."""
    interpreter = equipment.interpreter
    if language == "python" and interpreter is None:
        return Failed("there is no Python interpreter")
    python = str(interpreter.path) if interpreter else ""
    argv = add_command(language, requirement, entry, python)
    tool = "npm" if language == "node" else "pip"
    result = installer.run(argv, entry, tool=tool, readable=interpreter.readable if interpreter else ())
    if problem := failed(result, argv, installer.timeout_s):
        return problem
    if language == "node":
        return with_node_path(equipment, entry / "node_modules")
    assert interpreter is not None
    imports = (*interpreter.imports, str(entry / "packages"))
    with_package = replace(interpreter, imports=imports, readable=(*interpreter.readable, entry))
    return replace(equipment, interpreter=with_package)


def add_command(language: Language, requirement: str, entry: Path, python: str) -> tuple[str, ...]:
    """The command that installs a package in a folder of its own."""
    if language == "node":
        quiet = ("--no-audit", "--no-fund", "--loglevel=error")
        return ("npm", "install", "--no-save", "--ignore-scripts", *quiet, "--prefix", str(entry), requirement)
    return (python, *PIP, *INSTALL, "--only-binary", ":all:", "--target", str(entry / "packages"), requirement)


def with_node_path(equipment: Equipment, *folders: Path) -> Equipment:
    """The equipment whose Node programs also find packages in these folders."""
    known = equipment.variables.get("NODE_PATH")
    path = ":".join((*((known,) if known else ()), *map(str, folders)))
    return replace(
        equipment,
        variables={**equipment.variables, "NODE_PATH": path},
        readable=(*equipment.readable, *folders),
    )
