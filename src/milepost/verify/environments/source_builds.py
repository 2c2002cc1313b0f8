"""Which packages may be built from their sources, and run code of theirs for that.

What the user's repository needs is theirs to build. What only a checkout needs came with an attempt: it is installed
from wheels, which run nothing, unless the settings name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from milepost.sources.manifests.python import normalised
from milepost.sources.parse_documents import tables, toml_of
from milepost.verify.environments.package_cache import Failed
from milepost.verify.environments.python_needs import PythonNeeds
from milepost.verify.environments.python_project import name_of

ALL = "all"
_NO_WHEEL = re.compile(
    r"No matching distribution found for ([A-Za-z0-9][A-Za-z0-9._-]*)"  # pip
    r"|[Dd]istribution `?([A-Za-z0-9][A-Za-z0-9._-]*?)(?:==[^\s`]+)?[ `].{0,80}can't be installed"  # uv
    r"|Unable to find installation candidates for ([A-Za-z0-9][A-Za-z0-9._-]*)"  # poetry
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBuilds:
    """`names` may be built; with `everything` all may, as for what the user's own repository needs.

    Archives that lie in the repository meet neither a network nor the user's settings, unless that was `agreed` to.
    """

    names: frozenset[str] = frozenset()
    everything: bool = False
    agreed: bool = False

    @property
    def key(self) -> str:
        """What an installation is known by beside what it needs: one that failed for want of a wheel may do better."""
        if self.agreed:
            return ALL
        return "" if self.everything else f"wheels, and {' '.join(sorted(self.names))}"

    def allows(self, name: str) -> bool:
        return self.everything or name in self.names


def builds_for(
    needs: PythonNeeds, theirs: PythonNeeds, environment: Path | None, settings: tuple[str, ...]
) -> SourceBuilds:
    """What a checkout may build: all where it needs what the repository needs, else what that has unchanged."""
    if needs.digest == theirs.digest or ALL in settings:
        return SourceBuilds(everything=True, agreed=ALL in settings)
    same = {name_of(line) for line in _lines(needs) & _lines(theirs)}
    installed = {*_installed(environment)} if environment is not None else set()
    return SourceBuilds(names=frozenset({*same, *installed, *map(normalised, settings)} - {""}))


def not_to_be_built(needs: PythonNeeds, builds: SourceBuilds) -> tuple[str, ...]:
    """The packages of a lock file that may only be installed from wheels."""
    locked = {normalised(name) for content in dict(needs.locks).values() for name, _ in _locked(content)}
    return () if builds.everything else tuple(sorted(name for name in locked if not builds.allows(name)))


def without_wheel(problem: Failed) -> str:
    """The package that an installer found no wheel of; empty where that was not the problem."""
    found = _NO_WHEEL.search(problem.reason)
    return normalised(next(filter(None, found.groups()))) if found else ""


def explained_archives(problem: Failed) -> Failed:
    """The problem with what can be done where archives that lie in the repository were installed apart."""
    advice = (
        "archives that lie in the repository are installed without a network and without your settings: "
        '[verify] build = ["all"] lets their code have both'
    )
    return Failed(f"{advice}\n{problem.reason}", lasting=problem.lasting)


def explained(problem: Failed, builds: SourceBuilds) -> Failed:
    """The problem with what can be done where a package that the attempt added has no wheel."""
    name = without_wheel(problem)
    if not name or builds.allows(name):
        return problem
    advice = f'{name}, which the change adds, has no wheel: [verify] build = ["{name}"] lets it be built from source'
    return Failed(f"{advice}\n{problem.reason}", lasting=problem.lasting)


def _lines(needs: PythonNeeds) -> set[str]:
    pins = (f"{name}=={version}" for content in dict(needs.locks).values() for name, version in _locked(content))
    return {*needs.asked.lines, *needs.declared, *pins}


def _locked(content: bytes) -> Iterator[tuple[str, str]]:
    for package in tables(toml_of(content).get("package")):
        if isinstance(package.get("name"), str):
            yield package["name"], str(package.get("version", ""))


def _installed(environment: Path) -> Iterator[str]:
    for place in environment.glob("lib/python*/site-packages/*.dist-info"):
        yield normalised(place.name.removesuffix(".dist-info").partition("-")[0])
