"""The sandbox as a workshop: installers with the network that they have for checks, and what was built without."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from milepost.core.commands import CommandResult
from milepost.core.errors import PackageFailed
from milepost.core.ports import Terminal
from milepost.core.secrets.redact import Redactor
from milepost.engine.project.project import Project
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.version import installed_version
from milepost.engine.terminals.interpreter import outside_environment, require_interpreter
from milepost.engine.terminals.isolation import hold_for
from milepost.engine.terminals.limits import CommandLimits, for_checks, for_installers
from milepost.engine.terminals.wrappers import DowngradedTerminal, LimitedTerminal, RedactingTerminal
from milepost.sandbox.launch import users_home
from milepost.ship.build import Built, Workshop
from milepost.verify.environments.package_cache import Entries, Failed
from milepost.verify.environments.run_installer import Installer
from milepost.workspace.checkout import Checkouts, environments_folder

_BUILD_TIMEOUT_S = 1800.0


@contextmanager
def open_workshop(
    project: Project, settings: Settings, own: Path, commit: str, say: Callable[[str], None]
) -> Iterator[Workshop]:
    """The sandbox with a folder to build in; installers have the network that they have for checks."""
    top, hold = project.repository.top, hold_for(settings)
    redact = Redactor(known_secrets(settings, top))
    environ = outside_environment(os.environ, top)
    interpreter = require_interpreter(top, settings)
    work = own / "work"
    work.mkdir()
    checkouts = Checkouts(work / "builds", project.repository.git(own / "git"))
    readable = (*project.repository.object_folders(), *map(Path, settings.sandbox.readable))
    with hold.open_terminal(extra_readable=readable, in_checkouts=True) as sandbox:
        honest: Terminal = DowngradedTerminal(terminal=sandbox) if hold.downgraded else sandbox

        def limited(allowance: CommandLimits) -> Terminal:
            return RedactingTerminal(LimitedTerminal(terminal=honest, allowance=allowance), redact)

        installer = Installer(
            terminal=limited(for_installers(settings)),
            environ=environ,
            home=users_home(),
            path=environ["PATH"],
            timeout_s=_BUILD_TIMEOUT_S,
        )
        yield Workshop(
            work=work,
            kit=_kits(installer),
            installers=installer,
            terminal=limited(for_checks(settings)),
            checkout=lambda name: checkouts.make(name, commit).folder,
            python=interpreter.path if interpreter else Path(sys.executable),
            readable=interpreter.readable if interpreter else (),
            path=environ["PATH"],
            has=lambda program: shutil.which(program, path=environ["PATH"]) is not None,
            timeout_s=_BUILD_TIMEOUT_S,
            say=say,
        )


def tool_versions(workshop: Workshop, built: Built) -> dict[str, str]:
    """The versions of the programs that the commands began with, as those say them, asked in the sandbox."""
    found = {"milepost": installed_version()}
    scratch = workshop.work / "versions"
    scratch.mkdir(exist_ok=True)
    names = {argv[0] for argv in built.argv if not argv[0].startswith(("{kit}", "{trial}", "{out}", "{file}"))}
    for name in sorted(names):
        argv = (str(workshop.python) if name == "{python}" else name, "--version")
        if workshop.has(argv[0]) or name == "{python}":
            result = workshop.installers.run(argv, scratch, readable=workshop.readable)
            found[name.strip("{}")] = _first_line(result)
    return found


def _kits(installer: Installer) -> Callable[[str, Callable[[Path], None]], Path]:
    """The tools that build, made once for all projects and kept where no guest can write afterwards."""
    entries = Entries(environments_folder(), patience_s=2 * _BUILD_TIMEOUT_S)

    def kit(made_of: str, make: Callable[[Path], None]) -> Path:
        key = hashlib.sha256(f"{made_of}\n{installer.choices()}".encode()).hexdigest()
        made = entries.get(f"kit-{key}", _makes(make), what="installing the tools that build packages")
        if isinstance(made, Failed):
            raise PackageFailed(f"the tools that build it cannot be kept: {made.reason}", "try again")
        return made

    return kit


def _makes(make: Callable[[Path], None]) -> Callable[[Path], Failed | None]:
    """One that raises what goes wrong, as a maker of an entry that tells it."""

    def made(folder: Path) -> Failed | None:
        make(folder)
        return None

    return made


def _first_line(result: CommandResult) -> str:
    return next(iter((result.stdout.strip() or result.stderr.strip()).splitlines()), "")[:200]
