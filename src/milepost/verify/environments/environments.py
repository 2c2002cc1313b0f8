"""The project's own environment for every checkout: what is there while it fits, else made once and kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from milepost.core.attempt import Workspace
from milepost.core.ports import Terminal
from milepost.verify.environments import throwaway
from milepost.verify.environments.equipment import Equipment
from milepost.verify.environments.node import Node
from milepost.verify.environments.package_cache import Entries, Failed
from milepost.verify.environments.python import Python
from milepost.verify.environments.python_needs import digest_of
from milepost.verify.environments.run_installer import Installer
from milepost.verify.environments.rust_and_go import Cargo, Go

Mode = Literal["auto", "own", "off"]


class Language(Protocol):
    """Knows what checkouts with files of one language need."""

    def equip(self, workspace: Workspace) -> Equipment: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSettings:
    """`mode`: `auto` makes what is missing, `own` takes only what is there, `off` the plain interpreter alone.

    `python` is an interpreter set by hand: it wins over all. `runs_scripts` lets packages run their install scripts,
    `builds` names those that a checkout may add and build from source, or `all`.
    """

    mode: Mode = "auto"
    python: str = ""
    builds: tuple[str, ...] = ()
    runs_scripts: bool = False
    timeout_s: float = 1200.0


class Environments:
    """Equips checkouts. Safe to share by threads; the same need is met once for all engines that share the cache.

    `cache` must be where no agent and no check may write. `environ` are the user's variables, with our own environment
    off its PATH; `home` their home folder, whose settings of installers apply.
    """

    def __init__(
        self,
        *,
        cache: Path,
        terminal: Terminal,
        repository: Path,
        environ: Mapping[str, str],
        home: Path,
        settings: EnvironmentSettings | None = None,
    ) -> None:
        chosen = settings or EnvironmentSettings()
        cache, mode = cache.absolute(), chosen.mode
        installer = self._installer = Installer(
            terminal=terminal,
            environ=environ,
            home=home,
            path=environ.get("PATH") or os.defpath,
            timeout_s=chosen.timeout_s,
        )
        entries = Entries(cache, patience_s=2 * chosen.timeout_s)
        self._languages: tuple[Language, ...] = (
            Python(
                repository=repository,
                installer=installer,
                entries=entries,
                cache=cache,
                mode=mode,
                setting=chosen.python,
                builds=chosen.builds,
            ),
            Node(
                repository=repository,
                installer=installer,
                entries=entries,
                mode=mode,
                runs_scripts=chosen.runs_scripts,
            ),
            Cargo(installer=installer, entries=entries, mode=mode),
            Go(installer=installer, entries=entries, mode=mode),
        )

    def for_checkout(self, workspace: Workspace) -> Equipment:
        """What commands in this checkout need. To be asked before the first of them runs there."""
        return combined(*(language.equip(workspace) for language in self._languages))

    def with_package(
        self, equipment: Equipment, language: throwaway.Language, requirement: str, folder: Path
    ) -> Equipment | Failed:
        """The equipment with one more package, installed in an empty folder for as long as that is there."""
        return throwaway.add_package(self._installer, equipment, language, requirement, folder)


def combined(*parts: Equipment) -> Equipment:
    """One equipment of those of several languages."""
    variables: dict[str, str] = {}
    for part in parts:
        variables |= part.variables
    locks = [part.lock for part in parts if part.lock]
    return replace(
        next((part for part in parts if part.interpreter is not None), Equipment()),
        links=tuple(link for part in parts for link in part.links),
        readable=tuple(dict.fromkeys(path for part in parts for path in part.readable)),
        variables=variables,
        lock=locks[0] if len(locks) == 1 else digest_of(*locks) if locks else "",
        origin=tuple(line for part in parts for line in part.origin),
        problem="\n".join(part.problem for part in parts if part.problem),
    )
