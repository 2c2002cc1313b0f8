"""The environment that `milepost start` runs a project in: the project's own, with missing packages for one run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from milepost.core.attempt import Workspace
from milepost.core.under_way import listening
from milepost.engine.commands.start_fixes import ProjectFacts, fix_for, keep_packages
from milepost.engine.project.settings.settings import Settings
from milepost.engine.terminals.interpreter import outside_environment, require_interpreter
from milepost.engine.terminals.one_command import HandTerminals
from milepost.engine.verification.equipped_checkout import equipment_for
from milepost.repair.packages import Package, Unknown, node_package, python_package
from milepost.sandbox.launch import users_home
from milepost.sandbox.scripts import EntryPoint, ScriptResult
from milepost.sources.manifests import javascript, python
from milepost.verify.environments import Environments, EnvironmentSettings, Equipment, Failed, with_node_path
from milepost.workspace.checkout import environments_folder

MANIFESTS = ("pyproject.toml", "requirements.txt", "Pipfile", "uv.lock", "poetry.lock", "package.json")
NOT_ALLOWED = "--network none"

Language = Literal["python", "node", "other"]


@dataclass(kw_only=True)
class StartEnvironment:
    """What the program runs with. `packages` is a folder that is deleted at the end of the run."""

    folder: Path
    language: Language
    environments: Environments
    equipment: Equipment
    workspace: Workspace
    path: str
    packages: Path
    settings: Settings
    say: Callable[[str], None]
    problem: str = ""
    may_install: bool = True
    installed: list[str] = field(default_factory=list)

    def install_missing(self, module: str) -> bool:
        """Install the package of a module for this run; False where it may not or could not be installed."""
        package = self._package_of(module)
        if not isinstance(package, Package) or self.language == "other":
            return False
        if not self.may_install:
            self.problem = NOT_ALLOWED
            return False
        wanted = package.name if self.language == "node" else package.requirement
        self.say(f"installing {wanted} for this run only")
        place = self.packages / str(len(self.installed))
        place.mkdir()
        made = self.environments.with_package(self.equipment, self.language, wanted, place)
        if isinstance(made, Failed):
            self.problem = made.reason.partition("\n")[0]
            return False
        self.equipment = made
        self.installed.append(wanted)
        self.say("starting again")
        return True

    def fix(self, ran: ScriptResult) -> str:
        """What to do next: about a failure, or to keep what was installed for this run only."""
        facts = self._facts()
        if ran.failure is None:
            return keep_packages(self.installed, facts) if self.installed else ""
        missing = ran.failure.missing
        package = self._package_of(missing) if missing else None
        return fix_for(ran.failure, ran.result, facts, package, self.problem)

    def _package_of(self, module: str) -> Package | Unknown | None:
        approved = frozenset(self.settings.repair.packages)
        names = tuple(name for name in MANIFESTS if (self.folder / name).is_file())
        if self.language == "node":
            return node_package(module, declared=javascript.declared(names, self._read), approved=approved)
        return python_package(module, declared=python.declared(names, self._read), approved=approved)

    def _read(self, name: str) -> bytes | None:
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            return None

    def _facts(self) -> ProjectFacts:
        interpreter = self.equipment.interpreter
        environment = interpreter.environment if interpreter else None
        own = environment is not None and environment.is_relative_to(self.folder)
        return ProjectFacts(
            folder=self.folder,
            language=self.language,
            files=frozenset(path.name for path in self.folder.iterdir()),
            networked=self.settings.sandbox.network == "open",
            venv=environment.relative_to(self.folder).as_posix() if environment is not None and own else "",
        )


def set_up(
    folder: Path,
    entry: EntryPoint,
    settings: Settings,
    terminals: HandTerminals,
    packages: Path,
    say: Callable[[str], None],
    *,
    may_install: bool,
) -> StartEnvironment:
    """The environment of the project: the one that checks of this project use, made where it is missing."""
    environ, verify = outside_environment(os.environ, folder), settings.verify
    mode = "own" if verify.environment == "auto" and not may_install else verify.environment
    environments = Environments(
        cache=environments_folder(),
        terminal=terminals.installers,
        repository=folder,
        environ=environ,
        home=users_home(),
        settings=EnvironmentSettings(mode=mode, python=verify.python, builds=tuple(verify.build)),
    )
    workspace = Workspace(folder=folder, scratch=terminals.scratch, base="")
    with listening(lambda told: None if told.ended else say(told.what)):
        found = equipment_for(environments, workspace, require_interpreter(folder, settings))
    # The folder is the user's own: packages of Node are not linked into it, but found by NODE_PATH.
    targets = [link.target for link in found.links]
    equipment = with_node_path(replace(found, links=()), *targets) if targets else found
    problem = found.problem.partition("\n")[0]
    for line in found.origin:
        say(f"environment: {line}")
    if problem:
        say(f"could not install the project's dependencies: {problem}")
    return StartEnvironment(
        folder=folder,
        language=_language(entry),
        environments=environments,
        equipment=equipment,
        workspace=workspace,
        path=os.pathsep.join((*(str(target / ".bin") for target in targets), environ["PATH"])),
        packages=packages,
        settings=settings,
        say=say,
        problem=problem,
        may_install=may_install,
    )


def _language(entry: EntryPoint) -> Language:
    match entry.argv[0]:
        case "python3":
            return "python"
        case "node" | "npm":
            return "node"
        case _:
            return "other"
