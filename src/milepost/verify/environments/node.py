"""The packages of a JavaScript checkout: the user's own `node_modules` while it fits, else one made for it.

Install scripts of packages are not run, unless it was said that they shall be: they are how a package takes a machine
over, and few of those that tests need have any.
"""

from __future__ import annotations

import filecmp
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from milepost.core.attempt import Workspace
from milepost.verify.environments.equipment import Equipment, Link
from milepost.verify.environments.node_needs import NodeNeeds, node_needs
from milepost.verify.environments.package_cache import Entries, Failed
from milepost.verify.environments.python_needs import digest_of
from milepost.verify.environments.run_installer import Installer, failed
from milepost.verify.programs.tracked import tracked_at

FOLDER = "node_modules"
STALE = ".stale-lock"
_STALE = re.compile(
    r"can only install packages when your package\.json and|ERR_PNPM_OUTDATED_LOCKFILE|lockfile needs to be updated"
    r"|lockfile would have been modified|Missing: \S+ from lock file"
)
_QUIET = ("--no-audit", "--no-fund", "--loglevel=error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Finds or makes the packages. `runs_scripts` lets packages run their install scripts, in the sandbox."""

    repository: Path
    installer: Installer
    entries: Entries
    mode: Literal["auto", "own", "off"] = "auto"
    runs_scripts: bool = False

    def equip(self, workspace: Workspace) -> Equipment:
        if self.mode == "off":
            return Equipment()
        theirs = {needs.folder: needs for needs in node_needs(self.repository)}
        parts = [self._part(needs, theirs.get(needs.folder), workspace) for needs in node_needs(workspace.folder)]
        return Equipment(
            links=tuple(link for part in parts for link in part.links),
            readable=tuple(path for part in parts for path in part.readable),
            lock=digest_of(*(part.lock for part in parts)) if parts else "",
            origin=tuple(line for part in parts for line in part.origin),
            problem="\n".join(part.problem for part in parts if part.problem),
        )

    def _part(self, needs: NodeNeeds, theirs: NodeNeeds | None, workspace: Workspace) -> Equipment:
        name = f"{needs.folder}/{FOLDER}".lstrip("/")
        if _is_committed(workspace.folder / name, self.repository / name):
            return Equipment(lock=needs.digest, origin=(f"the committed {name}, from which no tool is taken",))
        tracked = tracked_at(self.repository, self.repository / name)
        existing = (self.repository / name).is_dir() and not tracked
        fits = theirs is not None and theirs.digest == needs.digest
        but = "" if fits else ", although the checkout needs other packages than the repository"
        own = self._linked(needs, self.repository, f"existing {name}{but}") if existing else Equipment()
        if existing and (fits or self.mode == "own"):
            return own
        if self.mode == "own":
            return Equipment(lock=needs.digest, origin=(f"there is no {name}",))
        if new := _new_sources(needs, theirs):
            problem = f"packages would come from a source that your repository does not use: {', '.join(new)}"
            return replace(own, lock=needs.digest, problem=problem)
        making = _Making(needs, self.installer, self.runs_scripts, may_be_stale=fits)
        key = digest_of(
            needs.digest, needs.folder, making.tool, f"{self.runs_scripts} {fits}", self.installer.choices()
        )
        made = self.entries.get(f"node-{key}", making.make, making.what)
        if isinstance(made, Failed):
            return replace(own, lock=needs.digest, problem=made.reason)
        scripts = "" if self.runs_scripts else ", without the install scripts of packages"
        stale = f", without {needs.lock}, which is out of date" if (made / STALE).exists() else ""
        instead = f", not the one in which git tracks {tracked}" if tracked else ""
        return self._linked(needs, made, f"{name} installed by {making.tool}{scripts}{stale}{instead}")

    def _linked(self, needs: NodeNeeds, top: Path, origin: str) -> Equipment:
        """The folders of packages below `top`, which is a repository or an entry with the same folders."""
        top = Path(os.path.realpath(top))
        links = tuple(_links(needs, top))
        return Equipment(
            links=links, readable=tuple(link.target for link in links), lock=needs.digest, origin=(origin,)
        )


def install_command(tool: str, lock: str, *, runs_scripts: bool) -> tuple[str, ...]:
    """The command that fills `node_modules` from the manifests in the working directory."""
    scripts = () if runs_scripts else ("--ignore-scripts",)
    match tool:
        case "pnpm":
            return ("pnpm", "install", "--frozen-lockfile", "--prod=false", *scripts)
        case "yarn":
            return ("yarn", "install", "--frozen-lockfile", "--non-interactive", *scripts)
        case _:
            return ("npm", "ci" if lock else "install", "--include=dev", *_QUIET, *scripts)


def without_lock(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The same command for a lock that is out of date: what it lacks is looked up."""
    loose = {"ci": "install", "--frozen-lockfile": "--no-frozen-lockfile" if argv[0] == "pnpm" else ""}
    return tuple(word for word in (loose.get(word, word) for word in argv) if word)


class _Making:
    """The packages of one checkout being installed in an empty folder of the cache."""

    def __init__(self, needs: NodeNeeds, installer: Installer, runs_scripts: bool, *, may_be_stale: bool) -> None:
        self._needs = needs
        self._installer = installer
        self._runs_scripts = runs_scripts
        self._may_be_stale = may_be_stale  # the user's own lock is no better: no attempt made it so
        self.tool = needs.tool
        self.what = f"installing the packages of {needs.folder or 'the project'} with {needs.tool}"

    def make(self, entry: Path) -> Failed | None:
        needs = self._needs
        for path, content in (*needs.manifests, *needs.archives, *needs.settings):
            (entry / path).parent.mkdir(parents=True, exist_ok=True)
            (entry / path).write_bytes(content)
        argv = install_command(self.tool, needs.lock, runs_scripts=self._runs_scripts)
        env = {"YARN_NODE_LINKER": "node-modules", "NPM_CONFIG_UPDATE_NOTIFIER": "false", "CI": "1"}
        if not self._runs_scripts:  # newer versions of yarn have no option for it
            env["YARN_ENABLE_SCRIPTS"] = "false"
        if needs.folder:
            argv = _in_folder(argv, needs.folder)
        result = self._installer.run(argv, entry, tool=self.tool, env=env)
        if self._may_be_stale and not result.succeeded and _STALE.search(result.stdout + result.stderr):
            (entry / STALE).touch()
            argv = without_lock(argv)
            result = self._installer.run(argv, entry, tool=self.tool, env=env)
        if problem := failed(result, argv, self._installer.timeout_s):
            return problem
        (entry / needs.folder / FOLDER).mkdir(exist_ok=True)  # there is none where all dependencies are optional
        return None


def _in_folder(argv: tuple[str, ...], folder: str) -> tuple[str, ...]:
    option = {"npm": "--prefix", "pnpm": "--dir", "yarn": "--cwd"}[argv[0]]
    return (argv[0], option, folder, *argv[1:])


def _links(needs: NodeNeeds, top: Path) -> Iterator[Link]:
    for folder in (needs.folder, *needs.members):
        target = top / folder / FOLDER
        if target.is_dir():
            yield Link(path=f"{folder}/{FOLDER}".lstrip("/"), target=Path(os.path.realpath(target)), top=top)


def _new_sources(needs: NodeNeeds, theirs: NodeNeeds | None) -> list[str]:
    """What only the checkout brings: places, archives, and settings, which can name code for the installer to run."""
    known = {*theirs.archives, *theirs.settings} if theirs else set()
    files = [path for path, content in (*needs.archives, *needs.settings) if (path, content) not in known]
    return sorted({*(needs.sources - (theirs.sources if theirs else frozenset())), *files})


def _is_committed(folder: Path, theirs: Path) -> bool:
    """Whether a checkout brings its packages itself, the very ones that the user has; others are not believed."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    if folder == theirs:
        return True
    files = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    return bool(files) and all(_same(file, theirs / file.relative_to(folder)) for file in files)


def _same(one: Path, other: Path) -> bool:
    try:
        return not one.is_symlink() and filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False
