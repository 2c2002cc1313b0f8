"""An environment for Python packages made in the cache, by the tool whose lock file the project has, or by pip."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from milepost.verify.environments.package_cache import Failed
from milepost.verify.environments.python_needs import PythonNeeds
from milepost.verify.environments.python_project import name_of
from milepost.verify.environments.run_installer import Installer, failed
from milepost.verify.environments.source_builds import (
    SourceBuilds,
    explained,
    explained_archives,
    not_to_be_built,
    without_wheel,
)
from milepost.verify.suites.python_project import ProjectPython

VENV = "venv"
PIP = ("-I", "-m", "pip", "--disable-pip-version-check", "--no-input")
INSTALL = ("install", "--quiet", "--no-warn-script-location")

WHEELS = ".wheels"
FROM_AFAR = ".from-afar.txt"
ONLY_WHEELS = ("--only-binary", ":all:")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallCommand:
    """A command of an installation; `tool` is the installer whose settings it needs, empty where it needs none."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    tool: str = ""


class Making:
    """One environment being made in an empty folder of the cache."""

    def __init__(self, base: ProjectPython, needs: PythonNeeds, installer: Installer, builds: SourceBuilds) -> None:
        self._base = base
        self._needs = needs
        self._installer = installer
        self._builds = builds
        self._locks = {name for name, _ in needs.locks}
        self._tool = next((tool for tool in ("uv", "poetry") if self._led_by(tool)), "pip")
        self.made_from = f"{self._tool}.lock by {self._tool}" if self._tool != "pip" else _in_words(needs)

    def make(self, entry: Path) -> Failed | None:
        """Make it; what goes wrong is told. All files are in place before the first command runs, and none after."""
        self._copy(entry)
        if problem := self._fill(entry):
            return explained_archives(problem) if self._holds_archives else explained(problem, self._builds)
        python = str(entry / VENV / "bin" / "python")
        if not self._needs.uses_pytest:
            return None
        if not self._installer.run((python, "-I", "-c", "import pytest"), entry).succeeded:
            problem = self._run(pytest_step(self._tool, python, bool(self._needs.constraints), self._apart), entry)
            if problem:
                return problem
        self._installer.run(first_pytest_command(python), entry)
        return None

    @property
    def _apart(self) -> bool:
        """Whether all is fetched before any of it is installed: then no package runs while there are settings."""
        plain = not self._builds.everything and not needs_addresses(self._needs)
        return self._tool == "pip" and (self._holds_archives or plain)

    @property
    def _holds_archives(self) -> bool:
        """Whether files of the repository are installed, which may run code: so without settings and a network."""
        return self._tool == "pip" and bool(self._needs.archives) and not self._builds.agreed

    def _fill(self, entry: Path) -> Failed | None:
        """Run the commands; again with sources of a package that may be built and has no wheel."""
        sources: tuple[str, ...] = ()
        while True:
            problem = self._run_all(self._steps(entry, sources), entry)
            name = without_wheel(problem) if problem is not None and self._tool == "pip" else ""
            if self._builds.everything or self._holds_archives:
                return problem
            if not name or name in sources or not self._builds.allows(name):
                return problem
            sources = (*sources, name)

    def _steps(self, entry: Path, sources: tuple[str, ...]) -> list[InstallCommand]:
        base = str(self._base.path)
        if self._holds_archives:
            binary = () if self._builds.everything else ONLY_WHEELS
            are_wheels = all(path.endswith(".whl") for path, _ in self._needs.archives)
            return (wheel_steps if are_wheels else archive_steps)(self._needs, base, entry, options=binary)
        if self._apart and not sources:
            return wheel_steps(self._needs, base, entry)
        wheels = not_to_be_built(self._needs, self._builds) if self._tool != "pip" else ()
        options = () if self._builds.everything else (*ONLY_WHEELS, *_from_source(sources))
        return install_steps(self._tool, self._needs, base, entry, wheels=wheels, options=options)

    def _run_all(self, steps: list[InstallCommand], entry: Path) -> Failed | None:
        return next((problem for step in steps if (problem := self._run(step, entry)) is not None), None)

    def _led_by(self, tool: str) -> bool:
        return f"{tool}.lock" in self._locks and shutil.which(tool, path=self._installer.path) is not None

    def _run(self, step: InstallCommand, entry: Path) -> Failed | None:
        readable = self._base.readable
        result = self._installer.run(step.argv, entry, tool=step.tool, env=step.env, readable=readable)
        return failed(result, step.argv, self._installer.timeout_s)

    def _copy(self, entry: Path) -> None:
        names = [path for path, _ in self._needs.archives if self._tool == "pip" or self._builds.agreed]
        if self._tool != "pip":
            found = (path for levels in ("", "*/", "*/*/") for path in self._needs.top.glob(f"{levels}pyproject.toml"))
            names += [path.relative_to(self._needs.top).as_posix() for path in found if not path.is_symlink()]
            names += [*self._locks]
        for name in names:
            (entry / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._needs.top / name, entry / name, follow_symlinks=False)
        for name, lines in requirement_texts(self._needs).items():
            (entry / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        (entry / FROM_AFAR).write_text("\n".join(from_afar(self._needs)) + "\n", encoding="utf-8")


def requirement_texts(needs: PythonNeeds) -> dict[str, tuple[str, ...]]:
    """The files that pip is given. Lines with hashes stand alone: with one of them, pip wants all to have some."""
    apart = needs.asked.hashed
    return {
        ".asked.txt": needs.asked.lines if apart else (*needs.asked.lines, *needs.declared),
        ".declared.txt": needs.declared if apart else (),
        ".constraints.txt": needs.constraints,
    }


def install_steps(
    tool: str,
    needs: PythonNeeds,
    base: str,
    entry: Path,
    *,
    wheels: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
) -> list[InstallCommand]:
    """The commands that fill an environment, in order; `wheels` are packages of a lock that may not be built.

    `options` are for pip.
    """
    environment = entry / VENV
    python = str(environment / "bin" / "python")
    venv = InstallCommand(argv=(base, "-I", "-m", "venv", str(environment)))
    if tool == "uv":
        extras = tuple(word for extra in needs.extras for word in ("--extra", extra))
        extras += tuple(word for group in needs.groups for word in ("--group", group))
        extras += tuple(word for name in wheels for word in ("--no-build-package", name))
        env = {"UV_PROJECT_ENVIRONMENT": str(environment), "UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy"}
        sync = ("uv", "sync", "--frozen", "--no-install-workspace", "--python", base, *extras)
        # To compile starts the interpreter of the environment, which runs code of packages.
        compiled = InstallCommand(argv=(python, "-I", "-m", "compileall", "-q", str(environment / "lib")))
        return [InstallCommand(argv=sync, env=env, tool=tool), compiled]
    if tool == "poetry":
        extras = tuple(word for extra in needs.extras for word in ("--extras", extra))
        env = {"VIRTUAL_ENV": str(environment), "POETRY_VIRTUALENVS_IN_PROJECT": "false"}
        env |= {"POETRY_INSTALLER_ONLY_BINARY": ",".join(wheels)} if wheels else {}
        install = ("poetry", "install", "--no-root", "--no-interaction", "--no-ansi", *extras)
        return [venv, InstallCommand(argv=install, env=env, tool=tool)]
    install = (python, *PIP, *INSTALL, *options)
    return [venv, *(InstallCommand(argv=(*install, *words), tool="pip") for words in _asked_of_pip(needs))]


def wheel_steps(
    needs: PythonNeeds, base: str, entry: Path, *, options: tuple[str, ...] = ONLY_WHEELS
) -> list[InstallCommand]:
    """The commands that fill an environment with wheels: all are fetched, which runs none of them, then installed."""
    environment = entry / VENV
    python = str(environment / "bin" / "python")
    fetch = (python, *PIP, "wheel", "--quiet", *options, "--wheel-dir", WHEELS)
    install = (python, *PIP, *INSTALL, "--no-index", "--find-links", WHEELS)
    asked = [*_asked_of_pip(needs)]
    constraints = ("-c", ".constraints.txt") if needs.constraints else ()
    named = any(name_of(line) == "pytest" for line in (*needs.asked.lines, *needs.declared))
    tests = (
        [InstallCommand(argv=(*fetch, *constraints, "pytest"), tool="pip")] if needs.uses_pytest and not named else []
    )
    return [
        InstallCommand(argv=(base, "-I", "-m", "venv", str(environment))),
        *(InstallCommand(argv=(*fetch, *words), tool="pip") for words in asked),
        *tests,
        *(InstallCommand(argv=(*install, *words)) for words in asked),
    ]


def archive_steps(needs: PythonNeeds, base: str, entry: Path, *, options: tuple[str, ...] = ()) -> list[InstallCommand]:
    """The commands that fill an environment where archives of the repository are among what it needs.

    All else is fetched first, with what most builds use. What is in the archives runs only afterwards, when there are
    neither settings nor a network.
    """
    python = str(entry / VENV / "bin" / "python")
    fetch = (python, *PIP, "wheel", "--quiet", *options, "--wheel-dir", WHEELS)
    install = (python, *PIP, *INSTALL, "--no-index", "--find-links", WHEELS)
    constraints = ("-c", ".constraints.txt") if needs.constraints and not needs.asked.hashed else ()
    tests = ("pytest",) if needs.uses_pytest else ()
    files = [FROM_AFAR] if from_afar(needs) else []
    files += [".declared.txt"] if requirement_texts(needs)[".declared.txt"] else []
    afar = [InstallCommand(argv=(*fetch, *constraints, "-r", file), tool="pip") for file in files]
    return [
        InstallCommand(argv=(base, "-I", "-m", "venv", str(entry / VENV))),
        *afar,
        InstallCommand(argv=(*fetch, *constraints, *tests, "setuptools", "wheel"), tool="pip"),
        *(InstallCommand(argv=(*install, *words)) for words in _asked_of_pip(needs)),
    ]


def from_afar(needs: PythonNeeds) -> tuple[str, ...]:
    """The requirements that are neither files of the repository nor folders of such."""
    lines = needs.asked.lines if needs.asked.hashed else (*needs.asked.lines, *needs.declared)
    return tuple(line for line in lines if not line.startswith(("./", "--find-links ./")))


def needs_addresses(needs: PythonNeeds) -> bool:
    """Whether a requirement is an address, which is fetched when it is installed."""
    return any("://" in line for line in (*needs.asked.lines, *needs.declared))


def pytest_step(tool: str, python: str, constrained: bool, apart: bool) -> InstallCommand:
    """The command that adds pytest where the tests are written for it and nothing else brought it."""
    if tool == "uv":
        return InstallCommand(argv=("uv", "pip", "install", "--python", python, "pytest"), tool="uv")
    constraints = ("-c", ".constraints.txt") if constrained else ()
    if apart:
        return InstallCommand(
            argv=(python, *PIP, *INSTALL, "--no-index", "--find-links", WHEELS, *constraints, "pytest")
        )
    return InstallCommand(argv=(python, *PIP, *INSTALL, *constraints, "pytest"), tool="pip")


def first_pytest_command(python: str) -> tuple[str, ...]:
    """Have pytest write the bytecode of its plugins, which it else makes anew each time: where tests run it may not.

    It is asked about a file that has no tests; however it ends, nothing depends on it.
    """
    options = ("--noconftest", "--rootdir=.", "-c", os.devnull, "-p", "no:cacheprovider", "--collect-only")
    return (python, "-I", "-m", "pytest", *options, ".asked.txt")


def _asked_of_pip(needs: PythonNeeds) -> Iterator[tuple[str, ...]]:
    constrained = ("-c", ".constraints.txt") if needs.constraints and not needs.asked.hashed else ()
    for name, lines in requirement_texts(needs).items():
        if lines and name != ".constraints.txt":
            yield (*constrained, "-r", name)


def _from_source(names: tuple[str, ...]) -> tuple[str, ...]:
    return ("--no-binary", ",".join(names)) if names else ()


def _in_words(needs: PythonNeeds) -> str:
    parts = []
    if needs.asked.lines:
        parts.append("requirements files")
    if needs.declared:
        parts.append("the declared dependencies")
    if needs.constraints and needs.locks:
        parts.append(f"the versions in {', '.join(name for name, _ in needs.locks)}")
    return " and ".join(parts) if parts else "the interpreter alone"
