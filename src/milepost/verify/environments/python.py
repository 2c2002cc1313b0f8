"""The Python environment of a checkout: the user's own while it fits, else one made for what the checkout declares."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from milepost.core.attempt import Workspace
from milepost.core.commands import Command
from milepost.core.machine_failure import machine_failure
from milepost.verify.environments.equipment import Equipment
from milepost.verify.environments.import_paths import believed, register
from milepost.verify.environments.package_cache import Entries, Failed
from milepost.verify.environments.python_install import PIP, VENV, Making
from milepost.verify.environments.python_needs import PythonNeeds, digest_of, python_needs
from milepost.verify.environments.python_project import is_requirement
from milepost.verify.environments.run_installer import Installer
from milepost.verify.environments.source_builds import SourceBuilds, builds_for
from milepost.verify.programs.tracked import tracked_at
from milepost.verify.suites.python_project import ENVIRONMENT_FOLDERS, ProjectPython, find_interpreter

Mode = Literal["auto", "own", "off"]

_ABOUT = """
import json, platform, sys, sysconfig
build = (sys.version, sys.implementation.cache_tag, sysconfig.get_platform(), sys.base_prefix)
print(json.dumps([platform.python_version(), " ".join(build)]))
"""
_RECIPE = "3"  # to be changed with the way that environments are made


@dataclass(frozen=True, slots=True, kw_only=True)
class Python:
    """Finds or makes environments. `setting` is the interpreter that was set by hand, which is then the one.

    `builds` are packages that a checkout may add and build from source, or `all`.
    """

    repository: Path
    installer: Installer
    entries: Entries
    cache: Path
    mode: Mode = "auto"
    setting: str = ""
    builds: tuple[str, ...] = ()
    answers: dict[tuple[Path, str], tuple[str, ...]] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def equip(self, workspace: Workspace) -> Equipment:
        found = self._existing()
        if found is None:
            return Equipment(origin=("there is no Python interpreter",))
        version, build = self._about(found, workspace)
        found = replace(found, version=version or found.version)
        needs, theirs = python_needs(workspace.folder), python_needs(self.repository)
        builds = builds_for(needs, theirs, found.environment, self.builds)
        fits = found.environment is not None and needs.digest == theirs.digest
        known = Equipment(interpreter=found, lock=needs.digest if needs.anything else "")
        if self.setting or self.mode != "auto" or fits:
            known = replace(known, origin=(self._why_this(found, fits),))
        elif found.environment is None and self._is_enough(found, self._key(build, needs, builds), needs, workspace):
            why = f"{found.path.name} on PATH has all dependencies of the project"
            known = replace(known, origin=(why,) if needs.anything or needs.uses_pytest else ())
        else:
            known = self._made(self._key(build, needs, builds), found, needs, theirs)
        known = replace(known, origin=(*known.origin, *self._refused()))
        return known if self.mode == "off" else self._with_own_packages(known, needs, theirs)

    def _refused(self) -> tuple[str, ...]:
        """What is said of the environments that are there and are not taken."""
        there = (name for name in ENVIRONMENT_FOLDERS if os.path.lexists(self.repository / name))
        found = ((name, tracked_at(self.repository, self.repository / name)) for name in there)
        return tuple(f"not {name}: git tracks {path}, and a commit could change it" for name, path in found if path)

    def _existing(self) -> ProjectPython | None:
        if self.mode == "off" and not self.setting:
            return find_interpreter(Path("/nonexistent"), {"PATH": self.installer.path})
        return find_interpreter(self.repository, self.installer.environ, self.setting)

    def _why_this(self, found: ProjectPython, fits: bool) -> str:
        place = found.environment.name if found.environment else found.path.name
        if self.setting:
            return f"{place}, as configured"
        if fits or found.environment is None:
            return f"existing {place}"
        return f"existing {place}, although the checkout needs other packages than the repository"

    def _made(self, key: str, found: ProjectPython, needs: PythonNeeds, theirs: PythonNeeds) -> Equipment:
        existing = Equipment(interpreter=found, lock=needs.digest)
        if new := _new_sources(needs, theirs):
            problem = f"packages would come from a source that your repository does not use: {', '.join(new)}"
            return replace(existing, problem=problem, origin=(self._why_this(found, False),))
        making = Making(found, needs, self.installer, builds_for(needs, theirs, found.environment, self.builds))
        made = self.entries.get(key, making.make, f"creating an environment from {making.made_from}")
        if isinstance(made, Failed):
            return replace(existing, problem=made.reason, origin=(self._why_this(found, False),))
        environment = made / VENV
        interpreter = ProjectPython(
            path=environment / "bin" / "python",
            environment=environment,
            readable=(environment,),
            version=found.version,
        )
        notes = tuple(f"note: {note}" for note in needs.notes)
        return replace(existing, interpreter=interpreter, origin=(f"installed from {making.made_from}", *notes))

    def _with_own_packages(self, known: Equipment, needs: PythonNeeds, theirs: PythonNeeds) -> Equipment:
        """The checkout's packages come first, by name and by code; an environment that links to the same has them."""
        interpreter = known.interpreter
        if interpreter is None or (interpreter.imports and needs.identity == theirs.identity):
            return known
        imports = tuple(dict.fromkeys((*needs.imports, *interpreter.imports)))
        try:
            registered = register(believed(needs.packages, theirs.packages), interpreter.path, self.cache)
        except OSError as error:
            what = f"cannot register the project's own packages below {str(self.cache)!r}"
            if failure := machine_failure(error, what):
                raise failure from error
            return replace(known, problem=f"{what}: {error}")
        if registered is None:
            return replace(known, interpreter=replace(interpreter, imports=imports))
        site, programs = registered
        return replace(
            known,
            interpreter=replace(
                interpreter,
                imports=(*imports, str(site)),
                programs=(programs,),
                readable=(*interpreter.readable, site.parent),
            ),
        )

    def _about(self, found: ProjectPython, workspace: Workspace) -> tuple[str, str]:
        """The version of an interpreter and what its packages are built for."""

        def ask() -> tuple[str, ...]:
            argv = (str(found.path), "-I", "-c", _ABOUT)
            result = self.installer.terminal.run(self._question(argv, found, workspace))
            try:
                version, build = json.loads(result.stdout)
            except (ValueError, TypeError):
                return ()
            return str(version), str(build)

        told = self._answer((found.path, "about"), ask)
        return (told[0], told[1]) if told else ("", "")

    def _key(self, build: str, needs: PythonNeeds, builds: SourceBuilds) -> str:
        made_of = (_RECIPE, build, needs.digest, str(needs.uses_pytest), self.installer.choices(), builds.key)
        return f"python-{digest_of(*made_of)}"

    def _is_enough(self, found: ProjectPython, key: str, needs: PythonNeeds, workspace: Workspace) -> bool:
        """Whether no environment is needed; one that was made before says that it is."""
        return not self.entries.has(key) and self._has_all(found, needs, workspace)

    def _has_all(self, found: ProjectPython, needs: PythonNeeds, workspace: Workspace) -> bool:
        """Whether an interpreter outside of any environment has what is asked for, as in a container made for it."""
        if not needs.anything and not needs.uses_pytest:
            return True
        lines = [line.partition(" --hash")[0] for line in (*needs.asked.lines, *needs.declared)]
        wanted = [line for line in lines if not line.startswith("-")]
        if needs.archives or not all(is_requirement(line) and "://" not in line for line in wanted):
            return False
        wanted += ["pytest"] if needs.uses_pytest else []

        def ask() -> tuple[str, ...]:
            argv = (str(found.path), *PIP, "install", "--dry-run", "--no-index", *wanted)
            result = self.installer.terminal.run(self._question(argv, found, workspace))
            if result.termination != "exited":
                return ()
            return ("yes",) if result.succeeded and "Would install" not in result.stdout else ("no",)

        return self._answer((found.path, digest_of(*wanted)), ask) == ("yes",)

    def _question(self, argv: tuple[str, ...], found: ProjectPython, workspace: Workspace) -> Command:
        return Command(
            argv=argv,
            cwd=workspace.scratch,
            scratch=workspace.scratch,
            env={"PATH": self.installer.path, "PIP_CONFIG_FILE": os.devnull},
            timeout_s=60,
            readable=found.readable,
        )

    def _answer(self, key: tuple[Path, str], ask: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """The answer to a question that is put once; an empty one is no answer, and is asked for again."""
        with self.guard:
            if not self.answers.get(key):
                self.answers[key] = ask()
            return self.answers[key]


def _new_sources(needs: PythonNeeds, theirs: PythonNeeds) -> tuple[str, ...]:
    """Places and archives that packages would come from and that only the checkout names."""
    archives = {path for path, content in needs.archives if (path, content) not in theirs.archives}
    return tuple(sorted((needs.sources - theirs.sources) | archives))
