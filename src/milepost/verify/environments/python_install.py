"""An environment for Python packages made in the cache, by the tool whose lock file the project has, or by pip."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from milepost.verify.environments.package_cache import Failed
from milepost.verify.environments.python_needs import PythonNeeds
from milepost.verify.environments.run_installer import Installer, failed
from milepost.verify.suites.python_project import ProjectPython

VENV = "venv"
PIP = ("-I", "-m", "pip", "--disable-pip-version-check", "--no-input")
INSTALL = ("install", "--quiet", "--no-warn-script-location")

Step = tuple[tuple[str, ...], dict[str, str]]


class Making:
    """One environment being made in an empty folder of the cache."""

    def __init__(self, base: ProjectPython, needs: PythonNeeds, installer: Installer) -> None:
        self._base = base
        self._needs = needs
        self._installer = installer
        self._locks = {name for name, _ in needs.locks}
        self._tool = next((tool for tool in ("uv", "poetry") if self._led_by(tool)), "pip")
        self.made_from = f"{self._tool}.lock by {self._tool}" if self._tool != "pip" else _in_words(needs)

    def make(self, entry: Path) -> Failed | None:
        """Make it; what goes wrong is told. All files are in place before the first command runs, and none after."""
        self._installer.say(f"creating an environment from {self.made_from}")
        self._copy(entry)
        python = str(entry / VENV / "bin" / "python")
        for argv, env in install_commands(self._tool, self._needs, str(self._base.path), entry):
            if problem := self._run(argv, entry, env):
                return problem
        if not self._needs.uses_pytest:
            return None
        if not self._installer.run((python, "-I", "-c", "import pytest"), entry).succeeded:
            problem = self._run(pytest_command(self._tool, python, bool(self._needs.constraints)), entry)
            if problem:
                return problem
        self._installer.run(first_pytest_command(python), entry)
        return None

    def _led_by(self, tool: str) -> bool:
        return f"{tool}.lock" in self._locks and shutil.which(tool, path=self._installer.path) is not None

    def _run(self, argv: tuple[str, ...], entry: Path, env: dict[str, str] | None = None) -> Failed | None:
        result = self._installer.run(argv, entry, env=env, readable=self._base.readable)
        return failed(result, argv, self._installer.timeout_s)

    def _copy(self, entry: Path) -> None:
        names = [path for path, _ in self._needs.archives]
        if self._tool != "pip":
            found = (path for levels in ("", "*/", "*/*/") for path in self._needs.top.glob(f"{levels}pyproject.toml"))
            names += [path.relative_to(self._needs.top).as_posix() for path in found if not path.is_symlink()]
            names += [*self._locks]
        for name in names:
            (entry / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._needs.top / name, entry / name, follow_symlinks=False)
        for name, lines in requirement_texts(self._needs).items():
            (entry / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def requirement_texts(needs: PythonNeeds) -> dict[str, tuple[str, ...]]:
    """The files that pip is given. Lines with hashes stand alone: with one of them, pip wants all to have some."""
    apart = needs.asked.hashed
    return {
        ".asked.txt": needs.asked.lines if apart else (*needs.asked.lines, *needs.declared),
        ".declared.txt": needs.declared if apart else (),
        ".constraints.txt": needs.constraints,
    }


def install_commands(tool: str, needs: PythonNeeds, base: str, entry: Path) -> list[Step]:
    """The commands, with their variables, that fill an environment, in order."""
    environment = entry / VENV
    python = str(environment / "bin" / "python")
    venv = (base, "-I", "-m", "venv", str(environment))
    if tool == "uv":
        extras = tuple(word for extra in needs.extras for word in ("--extra", extra))
        extras += tuple(word for group in needs.groups for word in ("--group", group))
        env = {"UV_PROJECT_ENVIRONMENT": str(environment), "UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy"}
        sync = ("uv", "sync", "--frozen", "--no-install-workspace", "--compile-bytecode", "--python", base, *extras)
        return [(sync, env)]
    if tool == "poetry":
        extras = tuple(word for extra in needs.extras for word in ("--extras", extra))
        env = {"VIRTUAL_ENV": str(environment), "POETRY_VIRTUALENVS_IN_PROJECT": "false"}
        return [(venv, {}), (("poetry", "install", "--no-root", "--no-interaction", "--no-ansi", *extras), env)]
    commands: list[Step] = [(venv, {})]
    constrained = ("-c", ".constraints.txt") if needs.constraints and not needs.asked.hashed else ()
    for name, lines in requirement_texts(needs).items():
        if lines and name != ".constraints.txt":
            commands.append(((python, *PIP, *INSTALL, *constrained, "-r", name), {}))
    return commands


def pytest_command(tool: str, python: str, constrained: bool) -> tuple[str, ...]:
    """The command that adds pytest where the tests are written for it and nothing else brought it."""
    if tool == "uv":
        return ("uv", "pip", "install", "--python", python, "pytest")
    constraints = ("-c", ".constraints.txt") if constrained else ()
    return (python, *PIP, *INSTALL, *constraints, "pytest")


def first_pytest_command(python: str) -> tuple[str, ...]:
    """Have pytest write the bytecode of its plugins, which it else makes anew each time: where tests run it may not.

    It is asked about a file that has no tests; however it ends, nothing depends on it.
    """
    options = ("--noconftest", "--rootdir=.", "-c", os.devnull, "-p", "no:cacheprovider", "--collect-only")
    return (python, "-I", "-m", "pytest", *options, ".asked.txt")


def _in_words(needs: PythonNeeds) -> str:
    parts = []
    if needs.asked.lines:
        parts.append("requirements files")
    if needs.declared:
        parts.append("the declared dependencies")
    if needs.constraints and needs.locks:
        parts.append(f"the versions in {', '.join(name for name, _ in needs.locks)}")
    return " and ".join(parts) if parts else "the interpreter alone"
